/** What the keys of a law may be, from the server's JSON Schema. */

interface Property {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly description?: string;
  readonly default?: unknown;
  readonly anyOf?: readonly Property[];
  readonly oneOf?: readonly Property[];
  readonly const?: string;
}

interface Definition {
  readonly properties?: Record<string, Property>;
  readonly required?: readonly string[];
}

export interface Field {
  readonly key: string;
  readonly about: string;
  readonly choices: readonly (string | number)[] | null; // null: a number
  readonly fallback: unknown; // what it is if absent
}

let asked: Promise<Record<string, Definition>> | null = null;

async function definitions(): Promise<Record<string, Definition>> {
  asked ??= fetch("/api/schema")
    .then((answer) => answer.json() as Promise<{ $defs: Record<string, Definition> }>)
    .then((schema) => schema.$defs);
  return asked;
}

const kinds = (property: Property): readonly Property[] =>
  [property, ...(property.anyOf ?? []), ...(property.oneOf ?? [])].flatMap((one) => [one, ...(one.oneOf ?? [])]);

/** The keys of a law that one number or one of some words can be given for. */
export async function fieldsOf(kind: string): Promise<Field[]> {
  const all = Object.values(await definitions());
  const law = all.find((one) => one.properties?.["kind"]?.const === kind);
  const found: Field[] = [];
  for (const [key, property] of Object.entries(law?.properties ?? {})) {
    if (key === "kind") continue;
    const forms = kinds(property);
    const choices = forms.find((form) => form.enum)?.enum ?? null;
    if (!choices && !forms.some((form) => form.type === "number")) continue;
    found.push({ key, about: property.description ?? "", choices, fallback: property.default ?? null });
  }
  return found;
}
