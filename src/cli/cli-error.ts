/**
 * What the process ends with: sysexits.h where it has a word for it, 1 when what was asked for came out as
 * "no", 130 after a Ctrl-C.
 */
export const exitCodes = {
  ok: 0,
  no: 1,
  usage: 64,
  noInput: 66,
  unavailable: 69,
  refused: 77,
  interrupted: 130,
} as const;

/** Why a command does not do what was asked for. */
export type Failure = Exclude<keyof typeof exitCodes, 'ok' | 'interrupted'>;

/** Ends a command. The message says what is wrong and what to do, and holds no secret. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;

  constructor(failure: Failure, message: string) {
    super(message);
    this.exitCode = exitCodes[failure];
  }
}
