/**
 * A stored record is of a format that this version does not know. The message names the version to run
 * instead.
 */
export class NewerFormatError extends Error {
  override readonly name = 'NewerFormatError';

  /** `record` names its kind, `known` the formats that this version reads. */
  constructor(record: string, format: unknown, known: string) {
    super(
      `${record} of format ${String(format)}; this version reads ${known}: run the newer filing-webhooks`,
    );
  }
}
