/** A field for one value of the scenario; what is refused stays in it, with the reason below. */

import { standing, type Draft, type Parsed, type Spot } from "../state/forms";
import { useApp, useSession } from "./context";
import { useTyped } from "./typed";

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

const asNumber = (text: string): number | null =>
  NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) : null;

/** A number that must be there. */
export function number(text: string, name: string): Parsed {
  const value = asNumber(text.trim());
  if (value !== null) return { value };
  return {
    wrong: text.trim()
      ? `${name} needs a number such as 0.5, got "${text.trim()}".`
      : `${name} needs a number; it is empty.`,
  };
}

/** A number, or nothing. */
export const numberOrNone = (text: string, name: string): Parsed =>
  text.trim() ? number(text, name) : { value: null };

/** Numbers in a row, or nothing. */
export function numbers(text: string, name: string): Parsed {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  const found = words.map(asNumber);
  const wrong = found.indexOf(null);
  if (wrong >= 0)
    return { wrong: `${name} needs numbers with commas between, such as 0.1, 0.2, got "${words[wrong]}".` };
  return { value: found.length ? found : null };
}

export const words = (text: string): Parsed => ({ value: text.trim() || null });

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.every((one) => typeof one === "number") ? value.join(", ") : "";
  if (typeof value === "number" && Number.isNaN(value)) return "";
  return typeof value === "number" || typeof value === "string" ? String(value) : "";
}

const useDraft = (spot: Spot): Draft | undefined =>
  useApp((app) => standing(app).find((one) => one.spot.key === spot.key));

const idOf = (spot: Spot): string => `wrong-${spot.key.replace(/\W+/g, "-")}`;

/** A field for one number says little of a list. */
const perAgent = (spot: Spot, value: unknown): boolean => Array.isArray(value) && spot.parse !== numbers;

/** The field itself; `showing` is what it shows while something else is moving it. */
export function Entry({ spot, label, showing }: { spot: Spot; label?: string; showing?: number }) {
  const session = useSession();
  const value = useApp((app) => app.scenario && spot.read(app.scenario));
  const draft = useDraft(spot);
  const many = perAgent(spot, value);
  const shown = many ? "" : asText(showing ?? value);
  const typing = useTyped(draft?.text ?? shown, (text) => session.forms.fill(spot, text));
  return (
    <input
      type="text"
      inputMode={spot.parse === words ? "text" : "decimal"}
      class={spot.parse === words ? undefined : "number"}
      {...typing}
      placeholder={many ? "one per agent" : (spot.empty ?? "none")}
      aria-label={label}
      aria-invalid={draft ? "true" : undefined}
      aria-describedby={draft ? idOf(spot) : undefined}
      autocomplete="off"
    />
  );
}

/** Why the field's text was refused, and the way back. */
export function Wrong({ spot }: { spot: Spot }) {
  const session = useSession();
  const draft = useDraft(spot);
  if (!draft) return null;
  const was = asText(JSON.parse(draft.was));
  return (
    <p class="wrong" id={idOf(spot)}>
      {draft.says}{" "}
      <button class="plain small" onClick={() => session.forms.drop(spot.key)}>
        {was ? `Back to ${was}` : "Take it back"}
      </button>
    </p>
  );
}

/** The field with its name. */
export function Field({ spot, about }: { spot: Spot; about?: string }) {
  return (
    <>
      <label class="field" title={about}>
        <span>
          {spot.name}
          {about && <span class="about dim">{about}</span>}
        </span>
        <Entry spot={spot} label={spot.name} />
      </label>
      <Wrong spot={spot} />
    </>
  );
}
