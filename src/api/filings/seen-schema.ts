import { Type } from 'typebox';
import { seenByMax, seenNoteMax } from '../../filings/seen/seen-store.ts';
import { linePattern } from '../shared/patterns.ts';
import { answer, bodyProblems, nullable, problems, record } from '../shared/schema.ts';
import { filingParams } from './schema.ts';

/** Body of PUT …/seen. */
const seenInputSchema = record(
  {
    by: Type.String({
      minLength: 1,
      maxLength: seenByMax,
      pattern: linePattern,
      description: 'Who has seen it.',
      examples: ['Dana Reyes'],
    }),
    note: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: seenNoteMax, pattern: linePattern }), {
        description: 'What is done about it.',
        examples: ['Asked the broker for the signed affidavit.'],
      }),
    ),
  },
  { $id: 'SeenInput' },
);

/** Request and responses of PUT …/filings/{filingId}/seen. */
export const markSeen = {
  tags: ['Filings'],
  operationId: 'markFilingSeen',
  summary: 'Note that somebody has seen a rejection',
  description:
    'The note belongs to the present rejection: the next event of the filing makes it unseen. A note that is there is replaced.',
  params: filingParams,
  body: seenInputSchema,
  response: { 200: answer('Filing', 'The filing.'), ...problems(409, ...bodyProblems) },
};

/** Request and responses of DELETE …/filings/{filingId}/seen. */
export const unmarkSeen = {
  tags: ['Filings'],
  operationId: 'unmarkFilingSeen',
  summary: 'Take the note back that somebody has seen a rejection',
  description: 'The filing counts as not seen again. Succeeds without a note, too.',
  params: filingParams,
  response: { 204: { type: 'null', description: 'It counts as unseen.' }, ...problems(403) },
};
