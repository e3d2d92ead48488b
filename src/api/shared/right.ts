import { Type } from 'typebox';
import { type Right, rights } from '../../accounts/token-store.ts';
import { oneOf } from '../../json/schema-parts.ts';
import { invalidValue } from './problem.ts';

/** Description of a right in requests and responses. */
export const rightText =
  '`read`: it changes nothing; `triage`: it also takes note of filings, writes notes and assigns them; `manage`: it may change everything of the account. ' +
  'Without `manage` it sees nothing that gives access to receivers.';

/** The right in a request: by its name, or by `readOnly` in its place. */
export const rightInput = {
  right: oneOf(rights, { description: rightText }),
  readOnly: Type.Boolean({
    description: 'In place of `right`: true is `read`, false is `manage`.',
  }),
};

/** The right that a request gives, else `otherwise`. Throws the problem 422 if it gives two. */
export function rightIn(
  { right, readOnly }: { readonly right?: Right; readonly readOnly?: boolean },
  otherwise: Right,
): Right {
  if (right !== undefined && readOnly !== undefined && readOnly !== (right === 'read'))
    throw invalidValue('readOnly', `contradicts the right ${right}: give one of the two`);
  if (right !== undefined) return right;
  return readOnly === undefined ? otherwise : readOnly ? 'read' : 'manage';
}
