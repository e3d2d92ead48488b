/** What a user entered, as Zapier hands it on. */
export type Input = Readonly<Record<string, unknown>>;

/** The values of a field that takes several, without empty ones and repeats; undefined where there is none. Commas separate values, too. */
export function readList(input: Input, key: string): string[] | undefined {
  const values = [input[key] ?? []]
    .flat()
    .flatMap((value) => String(value).split(','))
    .map((value) => value.trim())
    .filter((value) => value !== '');
  return values.length === 0 ? undefined : [...new Set(values)];
}

/** The value of a field that takes one; undefined where it is empty. */
export function readText(input: Input, key: string): string | undefined {
  const value = input[key];
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
  return text === '' ? undefined : text;
}

/** Whether a yes-or-no field says yes. */
export function readFlag(input: Input, key: string): boolean {
  return ['true', 'yes', '1'].includes(String(input[key]).toLowerCase());
}

/** `object` without the fields that are undefined. */
export function given<T extends Record<string, unknown>>(
  object: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
