/** What one sees, in four lines with pictures made of the marks of the map, and where to go from here. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { regionOf } from "../geometry/workspace";
import { health } from "../net/api";
import { capital, inWords, useApp, useSession, useTime, whole } from "./context";
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

export function Guide() {
  const session = useSession();
  const agents = useApp((app) => app.start.length);
  const about = useApp(
    (app) => app.templates.find((one) => one.title === app.scenario?.name)?.about ?? "a scenario of your own",
  );
  const dimension = useApp((app) => (app.scenario ? regionOf(app.scenario.workspace).dimension : 2));
  return (
    <div class="guide">
      <h2>{headline(agents || 8, dimension)} Each samples only now and then.</h2>
      <p class="dim">Shown: {about}.</p>
      <ol class="lines">
        <Line picture={<CellPicture />}>
          Each robot, an <Term name="agent">agent</Term>, serves its <Term name="cell">cell</Term>: the places
          closest to it. Places with a higher <Term name="density">density</Term> matter more.
        </Line>
        <Line picture={<SamplePicture />}>
          Now and then it <Term name="sample">samples</Term>: it measures its cell and finds the{" "}
          <Term name="centroid">centroid</Term>. A ring marks that moment, a <Term name="jump">jump</Term>.
        </Line>
        <Line picture={<HoldPicture />}>
          Then it <Term name="hold">holds</Term> its velocity towards the centroid (×), and measures nothing
          until its <Term name="timer">timer</Term> runs out.
        </Line>
        <Line picture={<CostPicture />}>
          The <Term name="cost">cost</Term> falls all the same. <SoFar />
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

/** Samples up to the time that is shown. */
function SoFar() {
  const session = useSession();
  useTime(4);
  const lane = useApp((app) => app.lanes[0]);
  if (!lane?.timeline.pieces.length) return null;
  const { samples } = lane.timeline.counts(session.clock.t, session.jumpOf(lane));
  const agents = lane.timeline.last?.arc.agents ?? 1;
  return (
    <span class="so-far">
      Until now: {whole(samples)} samples, {whole(samples / agents)} per agent.
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
            The server's interface
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
