import { hash } from 'node:crypto';
import { stateAbbreviation } from '../../events/event.ts';
import { folded } from '../../words/folded.ts';

// Characters of a key in Base64url: 128 bits.
const keyLength = 22;

/**
 * The key that a filing shares with the corrected filing that answers it: policy number, state, type and, if
 * the service returns it, endorsement number. Case, spaces and dashes of the policy number make no
 * difference. Null if one of the first three is missing, or if the policy number has no digit but 0, like the
 * placeholder TBD. Pure.
 */
export function lookAlikeKey(document: Readonly<Record<string, unknown>> | null): string | null {
  const { policyNumber, filingType, endorsementNumber = null } = document ?? {};
  const policy = typeof policyNumber === 'string' ? withoutSeparators(policyNumber) : '';
  const state = stateAbbreviation(document);
  if (!/[1-9]/.test(policy) || state === '' || typeof filingType !== 'string' || filingType === '')
    return null;
  const endorsement =
    typeof endorsementNumber === 'string' ? folded(endorsementNumber.trim()) : endorsementNumber;
  const parts = JSON.stringify([policy, state, filingType, endorsement]);
  return hash('sha256', parts, 'base64url').slice(0, keyLength);
}

// U+2212 is the minus sign.
function withoutSeparators(policyNumber: string): string {
  return folded(policyNumber).replaceAll(/[\s\p{Pd}\u2212]/gu, '');
}
