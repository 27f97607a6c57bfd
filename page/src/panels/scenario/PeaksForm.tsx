/** The peaks of a density, as a form. */

import { regionOf } from "../../geometry/workspace";
import type { Scenario } from "../../net/api";
import { peaksAt, withPeaksAt } from "../../state/edits";
import type { Spot } from "../../state/forms";
import { isTrack, type ChangingPoint } from "../../world/tracks";
import type { MovingTable } from "../../world/world";
import { useSession } from "../context";
import { Field, number } from "../Entry";
import { Moves } from "./Moves";

/** The peaks at the beginning, of a sensor or of the only density. */
const peaksIn = (s: Scenario, sensor: number | null): MovingTable[] => peaksAt(s, 0, sensor);

/** Which peak, of which sensor, among how many; if there are more or fewer it is another one. */
interface Which {
  readonly sensor: number | null;
  readonly peak: number;
  readonly count: number;
}

/** The place of a number of a peak. */
function ofPeak(
  { sensor, peak: which, count }: Which,
  name: string,
  read: (peak: MovingTable) => unknown,
  change: (peak: MovingTable, value: number) => MovingTable,
): Spot {
  return {
    key: `${sensor === null ? "" : `sensor${sensor}.`}density.peak${which}.${name}`,
    name,
    panel: "scenario",
    parse: number,
    read: (s) => {
      const peaks = peaksIn(s, sensor);
      return peaks.length === count ? read(peaks[which]) : `${peaks.length} peaks`;
    },
    write: (s, value) =>
      withPeaksAt(
        s,
        peaksIn(s, sensor).map((peak, k) => (k === which ? change(peak, value as number) : peak)),
        0,
        sensor,
      ),
  };
}

const coordinate = (center: ChangingPoint | undefined, i: number): unknown =>
  isTrack(center) ? "" : center?.[i];

const placed = (center: ChangingPoint | undefined, i: number, v: number): ChangingPoint | undefined =>
  isTrack(center) ? center : (center ?? []).map((old, j) => (j === i ? v : old));

const ofPlace = (which: Which, i: number): Spot =>
  ofPeak(
    which,
    ["x", "y", "z"][i] ?? `x${i + 1}`,
    (peak) => coordinate(peak.center, i),
    (peak, v) => ({ ...peak, center: placed(peak.center, i, v) }),
  );

const ofRate = (which: Which): Spot =>
  ofPeak(
    which,
    "rate",
    (peak) => peak.rate,
    (peak, rate) => ({ ...peak, rate }),
  );

const ofWeight = (which: Which): Spot =>
  ofPeak(
    which,
    "weight",
    (peak) => peak.weight ?? 1,
    (peak, weight) => ({ ...peak, weight }),
  );

export function PeaksForm({ scenario, sensor }: { scenario: Scenario; sensor: number | null }) {
  const session = useSession();
  const n = regionOf(scenario.workspace).dimension;
  const peaks = peaksIn(scenario, sensor);
  const own = sensor === null ? scenario.density : scenario.sensor?.[sensor].density;
  const remove = (which: number): Promise<boolean> =>
    session.forms.change((s) =>
      withPeaksAt(
        s,
        peaksIn(s, sensor).filter((_, k) => k !== which),
        0,
        sensor,
      ),
    );
  return (
    <fieldset>
      <legend>
        Density{sensor === null ? "" : ` of ${scenario.sensor?.[sensor].name}`}: {own?.kind ?? "uniform"}
      </legend>
      {peaks.map((peak, k) => (
        <div key={k} class="peak" role="group" aria-label={`Peak ${k + 1}`}>
          <PeakFields peak={peak} which={{ sensor, peak: k, count: peaks.length }} dimension={n} />
          <button class="plain" onClick={() => void remove(k)} aria-label={`Remove peak ${k + 1}`}>
            Remove
          </button>
        </div>
      ))}
      {!peaks.length && <p class="dim">This density has no peaks to drag.</p>}
    </fieldset>
  );
}

function PeakFields({ peak, which, dimension }: { peak: MovingTable; which: Which; dimension: number }) {
  return (
    <>
      {isTrack(peak.center) ? (
        <Moves name="center" track={peak.center} />
      ) : (
        Array.from({ length: dimension }, (_, i) => <Field key={i} spot={ofPlace(which, i)} />)
      )}
      {isTrack(peak.covariance) && <Moves name="covariance" track={peak.covariance} />}
      {isTrack(peak.rate) && <Moves name="rate" track={peak.rate} />}
      {!peak.covariance && !isTrack(peak.rate) && <Field spot={ofRate(which)} about="how fast it falls" />}
      {isTrack(peak.weight) ? <Moves name="weight" track={peak.weight} /> : <Field spot={ofWeight(which)} />}
    </>
  );
}
