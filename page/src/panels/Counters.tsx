/** Samples and messages so far, of one law. */

import counted from "../state/counted.json";
import type { Lane } from "../state/lane";
import { pathOf } from "../state/speed";
import { figure, useApp, useSession, useTime, whole } from "./context";

const [JUMPS, SAMPLES, RECEIVED, SENT, TOP_SPEED] = counted.counted;

interface Props {
  readonly lane: Lane;
  readonly few?: boolean; // whether a table has the others
}

export function Counters({ lane, few = false }: Props) {
  const session = useSession();
  useTime();
  useApp((app) => app.version);
  const j = session.jumpOf(lane);
  const t = Math.min(session.clock.t, lane.timeline.known);
  const counts = lane.timeline.counts(t, j);
  return (
    <dl class="counters">
      <Count name={JUMPS} value={whole(j)} about="events so far" />
      <Count
        name={SAMPLES}
        value={whole(counts.samples)}
        first={!few && lane.timeline.begin === 0 ? lane.timeline.counts(0, 0).samples : 0}
        about="cells that agents have measured"
      />
      {!few && (
        <>
          <Count
            name={RECEIVED}
            value={whole(counts.received)}
            about="positions of others, by samples or messages"
          />
          <Count name={SENT} value={whole(counts.sent)} about="broadcasts" />
        </>
      )}
      <Count
        name={TOP_SPEED}
        value={figure(pathOf(lane, t, j).speed, 3)}
        about="the largest speed of any agent so far"
      />
    </dl>
  );
}

interface CountProps {
  readonly name: string;
  readonly value: string;
  readonly about: string;
  readonly first?: number; // of them before the first jump
}

function Count({ name, value, about, first = 0 }: CountProps) {
  return (
    <div title={about}>
      <dt>{name}</dt>
      <dd>
        {value}
        {first > 0 && <span class="dim"> ({first} at t = 0)</span>}
      </dd>
    </div>
  );
}
