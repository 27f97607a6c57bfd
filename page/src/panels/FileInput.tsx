/** The browser's own dialog for a file, which buttons and keys open; what is chosen is opened. */

import type { Ref } from "preact";
import { useSession } from "./context";
import { openLater } from "./drops";

interface Props {
  readonly id?: string;
  readonly input?: Ref<HTMLInputElement>;
  readonly accept: string;
  readonly name: string;
}

export function FileInput({ id, input, accept, name }: Props) {
  const session = useSession();
  const open = async (element: HTMLInputElement): Promise<void> => {
    const chosen = element.files?.[0];
    if (chosen) await openLater(session, chosen);
    element.value = ""; // so that the same file can be chosen again
  };
  return (
    <input
      id={id}
      ref={input}
      type="file"
      accept={accept}
      class="hidden"
      tabIndex={-1}
      aria-label={name}
      aria-hidden="true"
      onChange={(e) => void open(e.currentTarget)}
    />
  );
}
