/** A chart with its caption. */

import { useEffect, useRef, useState } from "preact/hooks";
import { Chart, type ChartOptions } from "../charts/chart";
import type { Curves } from "../charts/data";
import { inWords, tableOf } from "../charts/words";
import { ChartTable } from "./ChartTable";
import { useApp, useSession, useTheme } from "./context";
import { unitOf } from "./units";

interface Props {
  readonly name: string; // in the text alternative
  readonly title: preact.ComponentChildren;
  readonly note?: preact.ComponentChildren;
  readonly curves: () => Curves;
  readonly options: Omit<ChartOptions, "theme" | "seek" | "unit" | "end" | "group" | "hover">;
  readonly agents?: boolean; // whether curve k is agent k
  readonly of: unknown; // when this changes the chart is made anew
}

export function ChartPane({ name, title, note, curves, options, agents = false, of }: Props) {
  const session = useSession();
  const theme = useTheme();
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<Chart | null>(null);
  const version = useApp((app) => app.version);
  const laneVersion = useApp((app) => app.laneVersion);
  const [words, setWords] = useState(name);
  const latest = useRef({ curves, options });
  latest.current = { curves, options };
  useEffect(() => {
    const element = box.current as HTMLDivElement;
    const made = new Chart(element, {
      ...latest.current.options,
      theme,
      unit: unitOf(session.store.get().scenario, session.store.get().lanes[0]),
      group: "time",
      end: () => session.end,
      seek: (t) => {
        session.clock.pause();
        session.seek(t);
      },
      hover: agents ? (line) => session.store.set({ hovered: line }) : null,
    });
    chart.current = made;
    made.show(latest.current.curves());
    made.moveTo(session.clock.t);
    const watch = new ResizeObserver(() => made.resize(element.clientWidth));
    watch.observe(element);
    const off = session.clock.onFrame(() => made.moveTo(session.clock.t));
    const forward = (): void => {
      const { hovered, selected } = session.store.get();
      made.focus(hovered >= 0 ? hovered : selected);
    };
    const offHover = agents ? session.store.subscribe(forward) : () => undefined;
    return () => {
      off();
      offHover();
      watch.disconnect();
      made.close();
    };
  }, [session, theme, of, agents]);
  useEffect(() => {
    const found = latest.current.curves();
    chart.current?.show(found);
    setWords(inWords(name, found));
  }, [version, laneVersion, name]);
  return (
    <section class="chart">
      <h3>
        <span>{title}</span> <span class="chart-note">{note}</span>
      </h3>
      <div ref={box} class="chart-box" role="img" aria-label={words} />
      <ChartTable title={name} table={() => tableOf(latest.current.curves())} />
    </section>
  );
}
