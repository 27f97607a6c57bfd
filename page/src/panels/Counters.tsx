/** Looks and messages so far, of one law. */

import type { Lane } from "../state/lane";
import { useApp, useSession, useTime, whole } from "./context";

export function Counters({ lane }: { lane: Lane }) {
  const session = useSession();
  useTime();
  useApp((app) => app.version);
  const j = session.jumpOf(lane);
  const counts = lane.timeline.counts(session.clock.t, j);
  return (
    <dl class="counters">
      <Count name="jumps" value={j} about="events so far" />
      <Count name="looks" value={counts.looks} about="cells that agents looked at" />
      <Count
        name="positions heard"
        value={counts.received}
        about="positions of others obtained, by looks or messages"
      />
      <Count name="broadcasts" value={counts.sent} about="messages sent to everybody" />
    </dl>
  );
}

function Count({ name, value, about }: { name: string; value: number; about: string }) {
  return (
    <div title={about}>
      <dt>{name}</dt>
      <dd>{whole(value)}</dd>
    </div>
  );
}
