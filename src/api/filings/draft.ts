import { Type } from 'typebox';
import { newPath } from '../../filings/draft.ts';
import type { Api, ApiDeps } from '../deps.ts';
import * as s from '../shared/schema.ts';
import { notFound, Problem } from '../shared/problem.ts';
import { filingParams } from './filings.ts';

/** The route to the draft with which a filing can be filed once more. */
export function addDraftRoute(app: Api, { filings, readDraft, now }: ApiDeps): void {
  app.get('/filings/:filingId/draft', getDraft, async ({ params: { account, filingId } }) => {
    // The service is asked only for filings that polls have seen.
    if ((await filings.get(account, filingId)) === null) throw notFound('filing_not_found');
    const asked = await readDraft(account, filingId);
    if (asked.kind === 'unavailable')
      throw new Problem('partner_unavailable', asked.detail, { headers: { 'retry-after': '5' } });
    if (asked.answer === null) throw notFound('filing_not_found');
    const { filing, documents, unknown, ...draft } = asked.answer;
    const { status, rejectionReason } = filing;
    return s.show(draftSchema, {
      ...draft,
      filingId,
      status,
      rejectionReason,
      readAt: now(),
      documents: documents.map((each) => ({ ...each, isPresent: each.fileName !== null })),
      unknown: [...unknown],
      otherFiles: [...draft.otherFiles],
    });
  });
}

/** Response of GET …/draft. */
export const draftSchema = s.described('The filing as the service shows it now, and what it needs.', {
  filingId: Type.String({ examples: ['f_123'] }),
  readAt: s.time('When the service was asked.'),
  status: Type.String({ examples: ['REJECTED'] }),
  rejectionReason: s.stringOrNull('As the partner service wrote it.'),
  filingType: s.stringOrNull('Filing type.'),
  requirements: s.stringOrNull(
    "The state's checklist for this type, as plain text; null where the service does not give it.",
  ),
  documents: Type.Array(
    s.record({
      name: s.string('As the state names it.'),
      isPresent: s.boolean('Whether the filing has a file of this name.'),
      fileName: s.stringOrNull('Of that file; null if it is missing.'),
    }),
    { description: 'The documents that the state requires for this type.' },
  ),
  otherFiles: Type.Array(Type.String(), {
    description: 'Names of the files of the filing that the state does not name.',
  }),
  body: Type.Record(Type.String(), Type.Unknown(), {
    description: `A body for \`POST partner/create-filing\` of the partner service. Upload each file first, and put its path in place of \`${newPath}\`.`,
  }),
  unknown: Type.Array(Type.String(), {
    description: 'Fields of the body that are required and null, because the service does not return them.',
  }),
});

const getDraft = s.operation({
  config: { dear: 'scans' },
  operationId: 'getDraft',
  summary: 'What a filing needs in order to be filed once more',
  description:
    "Reads the filing from the partner service, and once an hour the rules of its state. Nothing is changed there or here. Counts in the account's budget of requests.",
  params: filingParams,
  response: { 200: s.answer(draftSchema, 'The draft.') },
});
