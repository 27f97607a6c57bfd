/** The law of a scenario, as a form: its kind, and the keys that this kind has. */

import { useEffect, useState } from "preact/hooks";
import type { Law, Scenario } from "../../net/api";
import type { Spot } from "../../state/forms";
import { LAWS, lawLike, waitAtSite, withLaw } from "../../state/laws";
import { useSession } from "../context";
import { Field, number, numberOrNone, numbers } from "../Entry";
import { applies, withChoice } from "./belongs";
import { keysOf, type LawKey } from "./schema";

/** The place of a key of a law; under another law it is another place. */
function ofLaw(kind: string, field: LawKey): Spot {
  return {
    key: `controller.${field.key}`,
    name: field.key,
    panel: "scenario",
    parse: field.several ? numbers : field.needed ? number : numberOrNone,
    read: (s) => (s.controller.kind === kind ? (s.controller[field.key] ?? field.fallback) : kind),
    write: (s, value) => {
      const law: Law = { ...s.controller, [field.key]: value };
      if (value === null) delete law[field.key];
      return withLaw(s, law);
    },
  };
}

/** Choose one of some; what is refused is not how it is. */
function Choice({
  name,
  about,
  value,
  options,
  choose,
}: {
  name: string;
  about?: string;
  value: string;
  options: readonly (readonly [string, string])[];
  choose: (value: string) => Promise<boolean>;
}) {
  const changed = async (select: HTMLSelectElement): Promise<void> => {
    if (!(await choose(select.value))) select.value = value;
  };
  return (
    <label class="field" title={about}>
      <span>{name}</span>
      <select value={value} onChange={(e) => void changed(e.currentTarget)}>
        {options.map(([one, says]) => (
          <option key={one} value={one}>
            {says}
          </option>
        ))}
      </select>
    </label>
  );
}

export function LawForm({ scenario }: { scenario: Scenario }) {
  const session = useSession();
  const law = scenario.controller;
  const [known, setKnown] = useState<{ kind: string; keys: readonly LawKey[] }>({ kind: "", keys: [] });
  useEffect(() => {
    let over = false;
    keysOf(law.kind)
      .then((keys) => !over && setKnown({ kind: law.kind, keys }))
      .catch((error: unknown) => session.fail(error));
    return () => {
      over = true;
    };
  }, [law.kind, session]);
  const fallbacks = new Map(known.keys.map((one) => [one.key, one.fallback]));
  const shown = known.kind === law.kind ? known.keys.filter((one) => applies(law, one.key, fallbacks)) : [];
  return (
    <fieldset>
      <legend>Law</legend>
      <Choice
        name="kind"
        value={law.kind}
        options={LAWS.map((one) => [one.kind, one.name] as const)}
        choose={(kind) => session.forms.change((s) => withLaw(s, lawLike(kind, s.controller, waitAtSite(s))))}
      />
      {shown.map((field) =>
        field.choices ? (
          <Choice
            key={field.key}
            name={field.key}
            about={field.about}
            value={String(law[field.key] ?? field.fallback ?? "")}
            options={[
              ...(field.fallback === null ? [["", "as the preset says"] as const] : []),
              ...field.choices.map((one) => [String(one), String(one)] as const),
            ]}
            choose={(text) =>
              session.forms.change((s) => withLaw(s, withChoice(s, field.key, chosen(field, text))))
            }
          />
        ) : (
          <Field key={`${law.kind} ${field.key}`} spot={ofLaw(law.kind, field)} about={field.about} />
        ),
      )}
    </fieldset>
  );
}

const chosen = (field: LawKey, text: string): unknown =>
  field.choices?.find((one) => String(one) === text) ?? null;
