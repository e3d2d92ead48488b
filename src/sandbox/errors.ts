import type { errorStatus } from './decisions.ts';

/** The stable name of a failure. */
export type ErrorCode = keyof typeof errorStatus;

/** One mistake in the input; `field` is a dotted path such as `files.0.name`, empty for the whole. */
export interface Problem {
  readonly field: string;
  readonly message: string;
}

/** The body of every failure, of the service and of the control interface alike. */
export type ErrorBody = ReturnType<typeof errorBody>;

/** A failure that routes throw; one error handler turns it into a response. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
  readonly code: ErrorCode;
  readonly details: readonly Problem[];

  constructor(code: ErrorCode, message: string, details: readonly Problem[] = []) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** The body of a failure; `details` is left out if there are none. */
export function errorBody(code: ErrorCode, message: string, details: readonly Problem[] = []) {
  return details.length === 0 ? { code, message } : { code, message, details };
}

/** The failure for a body whose fields break a rule: every problem at once. */
export function invalidInput(details: readonly Problem[]): SandboxError {
  return new SandboxError('INVALID_INPUT', 'the request body is not valid', details);
}

/** The failure for an id that is unknown or belongs to another account: the two look the same on purpose. */
export function filingNotFound(id: string): SandboxError {
  return new SandboxError('FILING_NOT_FOUND', `there is no filing ${JSON.stringify(id.slice(0, 100))}`);
}
