import type { KeyObject } from 'node:crypto';
import { InvalidSecretError, parseSecret } from '../../subscriptions/signing-secret.ts';
import { CliError } from '../cli-error.ts';

/** Reads a signing secret. Throws a CliError that describes a valid one. */
export function readSigningKey(text: string): KeyObject {
  try {
    return parseSecret(text);
  } catch (error) {
    if (!(error instanceof InvalidSecretError)) throw error;
    throw new CliError('usage', `The secret is not valid: ${error.message}.`);
  }
}
