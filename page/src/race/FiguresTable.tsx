/** One row of figures for each law, with the best of each column marked. */

import { colourOf } from "../map/theme";
import { useTheme } from "../panels/context";
import { Swatch } from "../panels/Numbers";
import { bestOf, columnsOf, shown, titleOf, type Ranked } from "./ranking";

interface Props {
  readonly rows: readonly Ranked[];
  readonly level: number | null;
  readonly when: string;
  readonly over: boolean; // before the end none is the best: less may only be slower
}

export function FiguresTable({ rows, level, when, over }: Props) {
  const theme = useTheme();
  const columns = columnsOf(level, rows);
  const best = columns.map(({ ranked, value }) =>
    ranked && over ? bestOf(rows.map(({ figures }) => value(figures))) : new Set<number>(),
  );
  return (
    <div class="race-scroll" role="region" aria-label="Figures of the laws" tabIndex={0}>
      <table class="race-table">
        <caption>{when}</caption>
        <thead>
          <tr>
            <th scope="col">Law</th>
            {columns.map(({ name, about }) => (
              <th key={name} scope="col">
                {name} <span class="dim">{about}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ lane, figures }, k) => (
            <tr key={lane.name}>
              <th scope="row">
                <Swatch colour={colourOf(theme, k)} />
                {lane.name}
                <span class="dim">{titleOf(lane).slice(lane.name.length)}</span>
              </th>
              {columns.map(({ name, value }, c) => (
                <td key={name} class={best[c].has(k) ? "best" : undefined}>
                  {best[c].has(k) && <span class="best-mark">best</span>} {shown(value(figures))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
