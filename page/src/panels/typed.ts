/** Fields that are typed into: the text stays until it is taken, whatever is drawn anew meanwhile. */

import { useRef, useState } from "preact/hooks";
import type { InputHTMLAttributes } from "preact";

type Typing = Pick<InputHTMLAttributes<HTMLInputElement>, "value" | "onInput" | "onChange" | "onBlur">;

/** For an input that shows `shown` while it is not edited. */
export function useTyped(shown: string, take: (text: string) => Promise<void> | void): Typing {
  const [typed, setTyped] = useState<string | null>(null);
  const taking = useRef(0);
  const changed = async (text: string): Promise<void> => {
    taking.current += 1;
    try {
      await take(text);
    } finally {
      taking.current -= 1;
      setTyped((now) => (now === text ? null : now)); // more may have been typed since
    }
  };
  return {
    value: typed ?? shown,
    onInput: (e) => setTyped(e.currentTarget.value),
    onChange: (e) => void changed(e.currentTarget.value),
    onBlur: () => {
      if (!taking.current) setTyped(null); // what was typed is what had been there
    },
  };
}
