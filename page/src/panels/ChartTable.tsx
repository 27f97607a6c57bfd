/** The values behind a chart, at some times, for who does not see it or wants the numbers. */

import { useState } from "preact/hooks";
import type { Table } from "../charts/words";

export function ChartTable({ title, table }: { title: string; table: () => Table }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="chart-table" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>Table</summary>
      {open && <Values title={title} {...table()} />}
    </details>
  );
}

function Values({ title, times, rows }: Table & { title: string }) {
  return (
    <div tabIndex={0} role="region" aria-label={`Values of ${title}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">t</th>
            {times.map((t) => (
              <th key={t} scope="col">
                {t}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ name, values }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {values.map((value, k) => (
                <td key={times[k]}>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
