/**
 * The parts of an answer that are counted: all its bytes, the records of a page, and the bytes of a page
 * beside them.
 */
export type Counted = 'bytes' | 'records' | 'other bytes';

/** An answer has more than it may have of something, and is not read any further. */
export class AnswerExcess extends Error {
  override readonly name = 'AnswerExcess';
  readonly of: Counted;
  readonly max: number;

  constructor(of: Counted, max: number) {
    super(`more than ${max} ${of}`);
    this.of = of;
    this.max = max;
  }
}
