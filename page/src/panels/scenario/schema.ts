/** What the keys of a law may be, from the server's JSON Schema. */

interface Property {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly description?: string;
  readonly default?: unknown;
  readonly anyOf?: readonly Property[];
  readonly oneOf?: readonly Property[];
  readonly const?: string;
  readonly items?: Property;
}

interface Definition {
  readonly properties?: Record<string, Property>;
  readonly required?: readonly string[];
}

export interface LawKey {
  readonly key: string;
  readonly about: string;
  readonly choices: readonly (string | number)[] | null; // null: a number, or several
  readonly several: boolean;
  readonly needed: boolean;
  readonly fallback: unknown; // what it is if absent
}

let requested: Promise<Record<string, Definition>> | null = null;

async function definitions(): Promise<Record<string, Definition>> {
  requested ??= fetch("/api/schema")
    .then((answer) => answer.json() as Promise<{ $defs: Record<string, Definition> }>)
    .then((schema) => schema.$defs);
  return requested;
}

const kinds = (property: Property): readonly Property[] =>
  [property, ...(property.anyOf ?? []), ...(property.oneOf ?? [])].flatMap((one) => [
    one,
    ...(one.oneOf ?? []),
  ]);

/** The keys of a law that one number, some numbers or one of some words can be given for. */
export async function keysOf(kind: string): Promise<LawKey[]> {
  const all = Object.values(await definitions());
  const law = all.find((one) => one.properties?.["kind"]?.const === kind);
  const found: LawKey[] = [];
  for (const [key, property] of Object.entries(law?.properties ?? {})) {
    if (key === "kind") continue;
    const forms = kinds(property);
    const choices = forms.find((form) => form.enum)?.enum ?? null;
    const one = forms.some((form) => form.type === "number");
    const several = !one && forms.some((form) => form.type === "array" && form.items?.type === "number");
    if (!choices && !one && !several) continue;
    const needed = law?.required?.includes(key) ?? false;
    found.push({
      key,
      about: property.description ?? "",
      choices,
      several,
      needed,
      fallback: property.default ?? null,
    });
  }
  return found;
}
