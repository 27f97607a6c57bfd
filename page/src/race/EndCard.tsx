/** What a comparison came to: a sentence for each law, and all of it as one picture. */

import { fileName } from "../panels/actions";
import { useApp, useSession, useTheme } from "../panels/context";
import { download } from "../panels/map/exports";
import { comparisonPicture } from "./picture";
import { sentenceOf, verdictOf, type Ranked } from "./ranking";

interface Props {
  readonly rows: readonly Ranked[];
  readonly level: number | null;
  readonly broken: readonly string[]; // what was to hold and did not
  readonly notes: readonly string[];
}

export function EndCard({ rows, level, broken, notes }: Props) {
  const session = useSession();
  const theme = useTheme();
  const name = useApp((app) => app.scenario?.name);
  const sentences = rows.map((row) => sentenceOf(row, level));
  const verdict = verdictOf(rows);
  const save = (): void => {
    const title = `${name ?? "Scenario"}, t = ${Number(session.clock.t.toPrecision(4))}`;
    const words = [...broken, verdict, ...sentences, ...notes].filter(Boolean);
    comparisonPicture({ title, words, rows, level, theme }).toBlob((blob) => {
      if (blob) download(blob, `${fileName(session)}-comparison.png`);
    }, "image/png");
  };
  return (
    <section class="end-card" aria-label="Outcome of the comparison">
      {broken.map((one) => (
        <p key={one} class="bad" role="alert">
          ✗ {one}
        </p>
      ))}
      {verdict && <p class="end-verdict">{verdict}</p>}
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <button class="plain" onClick={save}>
        Save as picture
      </button>
    </section>
  );
}
