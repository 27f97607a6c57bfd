/** Small pictures on buttons. */

const PATHS = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M7 5h3.6v14H7zM13.4 5H17v14h-3.6z",
  begin: "M6 5h2.4v14H6zM19 5v14L9.5 12z",
  back: "M14.5 5v14L5 12zM17 5h2v14h-2z",
  forward: "M9.5 5v14L19 12zM5 5h2v14H5z",
  fit: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4z",
  plus: "M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z",
  minus: "M5 11h14v2H5z",
  bin: "M9 4h6l1 2h4v2H4V6h4zM6 9h12l-1 11H7z",
  redo: "M15 5v4h-5a5.5 5.5 0 0 0 0 11h6v-2.4h-6a3.1 3.1 0 0 1 0-6.2h5v4l5.5-5.4z",
  undo: "M9 5v4h5a5.5 5.5 0 0 1 0 11H8v-2.4h6a3.1 3.1 0 0 0 0-6.2H9v4L3.5 10z",
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
