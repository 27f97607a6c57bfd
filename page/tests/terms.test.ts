import { describe, expect, test } from "vitest";
import { TERMS } from "../src/terms";
import glossary from "../../docs/glossary.md?raw";

const SIGNS: Record<string, string> = { "\\nu": "ν", p: "p" };

/** A cell of the table as it reads on the page: mathematics as signs, names of the code plain. */
const plain = (text: string): string =>
  text.replace(/\$([^$]+)\$/g, (_, sign: string) => SIGNS[sign] ?? sign).replaceAll("`", "");

const rows = new Map(
  glossary
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.split("|").map((part) => part.trim()))
    .map((cells) => [cells[1], plain(cells.length > 5 ? cells[3] : cells[2])]),
);

describe("terms of the page", () => {
  for (const { term, says } of Object.values(TERMS))
    test(`${term} is defined as in the glossary`, () => expect(says).toBe(rows.get(term)));
});
