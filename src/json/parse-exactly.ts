/**
 * Parses JSON so that `JSON.stringify` gives every number back as it was written ("1200.10", ids of 20
 * digits), which doubles cannot hold. Such numbers are raw JSON objects, not numbers. Throws SyntaxError.
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
      ? rawJson(context.source)
      : value,
  );
}

// Not yet in TypeScript's library: https://github.com/tc39/proposal-json-parse-with-source
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;
