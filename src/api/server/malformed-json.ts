import { findJsonFault } from '../../json/malformed-json.ts';
import { Problem } from '../shared/problem.ts';
import { cutText } from '../../json/cut-text.ts';

// Maximum characters of the body that a response repeats on either side of the fault: bodies hold secrets.
const shownMax = 10;

// The parser refuses JSON for these two alone.
const forbiddenName =
  'The body has a field that no body may have: __proto__, or constructor with a field prototype. Leave it out.';

/**
 * The problem of a body that the parser refused: the place where it stops being JSON, with a few characters
 * around it, or for JSON the names that it must not hold. It goes to the client alone.
 */
export function malformedJson(text: string): Problem {
  const fault = findJsonFault(text);
  if (fault === null) return new Problem('malformed_json', forbiddenName);
  const { at, expected } = fault;
  const before = text.slice(Math.max(0, at - shownMax), at).replace(/^[\udc00-\udfff]/, '');
  const found = cutText(text.slice(at), shownMax);
  const lines = text.slice(0, at).split('\n');
  const place = `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  const where = found === '' ? `the body ends at ${place}` : `${JSON.stringify(found)} stands at ${place}`;
  const after = before === '' ? '' : ` after ${JSON.stringify(before)}`;
  return new Problem(
    'malformed_json',
    `The body is not JSON: ${where}${after}, where ${expected} is expected.`,
  );
}
