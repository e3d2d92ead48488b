import { listedMax } from '../shared/problem.ts';
import { checkCustomHeaders } from '../../egress/header-policy.ts';
import { parseSecret } from '../../subscriptions/signing-secret.ts';

/** The text that responses show instead of a header's value: values are often credentials. */
export const maskedHeader = '***';

/** The problem with custom headers, null for valid ones and for what the schema refuses anyway; pure. */
export function headersProblem(value: unknown): string | null {
  if (
    typeof value !== 'object' ||
    value === null ||
    Object.values(value).some((text) => typeof text !== 'string')
  ) {
    return null; // the schema checks the type
  }
  const texts = value as Record<string, string>;
  const check = checkCustomHeaders(texts);
  const problems = check.ok ? [] : [...check.problems];
  if (Object.values(texts).includes(maskedHeader))
    problems.push(`${maskedHeader} only hides a value; give the value itself.`);
  return problems.length === 0 ? null : `are not valid: ${problems.slice(0, listedMax).join(' ')}`;
}

/** The problem with a signing secret, null for a valid one and for anything but text; pure. */
export function secretProblem(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  try {
    parseSecret(text);
    return null;
  } catch {
    return 'must be whsec_ and the base64 of 24 to 64 bytes';
  }
}
