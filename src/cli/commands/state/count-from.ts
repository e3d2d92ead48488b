import { CliError } from '../../cli-error.ts';
import type { Input } from '../../command.ts';

/** The number of an option for the size of a page, as text. Throws CliError. */
export function countFrom(input: Input, option: string, fallback: number): string {
  const text = input.text(option) ?? String(fallback);
  if (!/^\d+$/.test(text) || Number(text) < 1 || Number(text) > 100)
    throw new CliError('usage', `--${option} must be a number from 1 to 100.`);
  return text;
}
