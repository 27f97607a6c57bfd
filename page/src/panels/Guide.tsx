/** What one sees, in four lines with pictures made of the marks of the map, and where to go from here. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { regionOf } from "../geometry/workspace";
import { health } from "../net/api";
import { capital, figure, inWords, useApp, useSession, useTime, whole } from "./context";
import type { Scenario, Template } from "../net/api";
import type { TermName } from "../terms";
import { figureAt } from "../charts/data";
import { changesOf, lawWords } from "./guide_words";
import { CellPicture, CostPicture, HoldPicture, SamplePicture } from "./pictures";
import { Term } from "./Term";
import "./guide.css";

const PLACES = ["a line", "an area", "a volume"]; // by dimension

/** What the robots do, in one sentence. */
export function headline(agents: number, dimension: number): string {
  const place = PLACES[dimension - 1] ?? `a space of ${inWords(dimension)} dimensions`;
  return agents === 1
    ? `One robot covers ${place}.`
    : `${capital(inWords(agents))} robots share out ${place}.`;
}

/** Text in which [word|term] is a word with a definition. */
const termed = (text: string): ComponentChildren =>
  text.split(/\[([^\]]+)\]/).map((part, k) => {
    const [word, name] = part.split("|");
    return k % 2 ? <Term name={name as TermName}>{word}</Term> : part;
  });

const same = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

/** A value with the keys of its tables in order. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([one], [other]) => (one < other ? -1 : 1))
            .map(([key, inner]) => [key, sorted(inner)]),
        )
      : value;

const PARTS = ["workspace", "density", "agents", "controller", "network", "world", "sensor", "run"] as const;

/** What is shown, in words; a template that was changed is not described as it was. */
export function shownWords(scenario: Scenario | null, templates: readonly Template[]): string {
  const found = templates.find((one) => one.title === scenario?.name);
  if (!scenario || !found) return "a scenario of your own";
  const changed = PARTS.some((key) => !same(scenario[key], found.scenario[key]));
  return changed ? `“${found.title}”, changed` : found.about;
}

export function Guide() {
  const session = useSession();
  const agents = useApp((app) => app.start.length);
  const scenario = useApp((app) => app.scenario);
  const templates = useApp((app) => app.templates);
  const dimension = scenario ? regionOf(scenario.workspace).dimension : 2;
  const words = lawWords(scenario?.controller ?? { kind: "timer" });
  const changes = scenario ? changesOf(scenario) : "";
  return (
    <div class="guide">
      <h2>
        {headline(agents || 8, dimension)} {words.tail}
      </h2>
      <p class="dim">Shown: {shownWords(scenario, templates)}.</p>
      <ol class="lines">
        <Line picture={<CellPicture />}>
          Each robot, an <Term name="agent">agent</Term>, serves its <Term name="cell">cell</Term>: the places
          closest to it. Places with a higher <Term name="density">density</Term> matter more.
        </Line>
        <Line picture={<SamplePicture />}>{termed(words.samples)}</Line>
        <Line picture={<HoldPicture />}>{termed(words.moves)}</Line>
        <Line picture={<CostPicture />}>
          The <Term name="cost">cost</Term> says how far places are from their robot. {changes} <SoFar />
        </Line>
      </ol>
      <p>
        {dimension < 3 && "Drag an agent while it runs: the others react. "}
        <kbd>Space</kbd> plays and pauses, <kbd>?</kbd> lists all keys.
      </p>
      <p class="row">
        <button class="plain" onClick={() => session.startStory()}>
          The paper in 90 seconds
        </button>
        <button class="plain" onClick={() => session.store.set({ panel: "numbers" })}>
          Show the numbers
        </button>
      </p>
      <About />
    </div>
  );
}

function Line({ picture, children }: { picture: ComponentChildren; children: ComponentChildren }) {
  return (
    <li>
      {picture}
      <p>{children}</p>
    </li>
  );
}

/** What has happened up to the time that is shown. */
function SoFar() {
  const session = useSession();
  useTime(4);
  const lane = useApp((app) => app.lanes[0]);
  if (!lane?.timeline.pieces.length) return null;
  const { t } = session.clock;
  const jump = session.jumpOf(lane);
  const { samples, sent } = lane.timeline.counts(t, jump);
  const agents = lane.timeline.last?.arc.agents ?? 1;
  const begin = figureAt(lane, lane.timeline.begin, lane.timeline.pieces[0].jumps, "cost");
  const now = figureAt(lane, t, jump, "cost");
  const counted = [
    ...(samples || !sent ? [`${whole(samples)} samples, ${whole(samples / agents)} per agent`] : []),
    ...(sent ? [`${whole(sent)} broadcasts`] : []),
  ];
  return (
    <span class="so-far">
      Until now: {begin !== null && now !== null && `cost ${figure(begin, 3)} → ${figure(now, 3)}; `}
      {counted.join("; ")}.
    </span>
  );
}

function About() {
  const [version, say] = useState("");
  useEffect(() => {
    health()
      .then((found) => say(found.version))
      .catch(() => undefined); // the page says elsewhere that the server is away
  }, []);
  return (
    <section class="about">
      <h3>About</h3>
      <p>
        dwell {version} simulates coverage control exactly, from event to event. The law is that of Zegers,
        Phillips and Hicks.
      </p>
      <ul>
        <li>
          <a href="https://arxiv.org/abs/2402.18744" target="_blank" rel="noreferrer">
            The paper: Timer-Based Coverage Control for Mobile Sensors
          </a>
        </li>
        <li>
          <a href="/docs" target="_blank">
            The server's interface, for programs (JSON)
          </a>
          ; the documentation is in the folder <code>docs</code> of the source
        </li>
        <li>
          <a href={`${import.meta.env.BASE_URL}licences.txt`} target="_blank">
            Licences
          </a>
        </li>
      </ul>
    </section>
  );
}
