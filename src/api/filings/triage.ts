import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { TriageStep } from '../../filings/detection/triage.ts';
import { noteFilings, type Noted } from '../../filings/note-filings.ts';
import { tokenOf } from '../access/auth.ts';
import { createLimit, defaultLimits } from '../access/limits.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { linePattern } from '../shared/patterns.ts';
import { notFound, Problem } from '../shared/problem.ts';
import { unassigned } from './choices.ts';
import * as s from '../shared/schema.ts';
import { wakeSoon } from '../subscriptions/find.ts';
import { filingParams } from './filings.ts';
import { showFiling } from './told.ts';
import { filingSchema } from './view.ts';

/** The routes by which people take note of rejections, write notes on filings and assign them. */
export function addTriageRoutes(app: Api, deps: ApiDeps): void {
  const limit = createLimit(
    { ...defaultLimits, ...deps.limits }.notes,
    'More is noted of the filings of this account than is kept.',
  );

  async function note(request: FastifyRequest, account: string, ids: readonly string[], step: TriageStep) {
    const isLimited = tokenOf(request) !== null;
    if (isLimited) await limit.check(account);
    const results = await noteFilings(deps, account, ids, step);
    const noted = [...results.values()].filter((result) => result === 'noted').length;
    if (isLimited) await limit.charge(account, noted);
    if (noted > 0) await wakeSoon(deps, { account }, request.log);
    return results;
  }

  async function noteOne(request: FastifyRequest, params: Static<typeof filingParams>, step: TriageStep) {
    const { account, filingId } = params;
    const refused = refusalOf((await note(request, account, [filingId], step)).get(filingId));
    if (refused !== null) throw refused;
    return showFiling(deps, request, account, filingId);
  }

  app.put('/filings/seen', markFilingsSeen, async (request) => {
    const { ids } = request.body;
    const results = await note(request, request.params.account, ids, seenStep(request));
    const marked: string[] = [];
    const refused: Static<typeof refusedSchema>[] = [];
    for (const [filingId, result] of results) {
      const why = refusalOf(result);
      if (why === null) marked.push(filingId);
      else refused.push({ filingId, code: why.code, detail: why.message });
    }
    return { marked, refused };
  });

  app.put('/filings/:filingId/seen', markFilingSeen, async (request) =>
    noteOne(request, request.params, seenStep(request)),
  );

  app.delete('/filings/:filingId/seen', unmarkFilingSeen, async (request, reply) => {
    await noteOne(request, request.params, { kind: 'undone', by: personOf(request, request.query) });
    return reply.code(204).send(null);
  });

  app.post('/filings/:filingId/notes', writeNote, async (request) => {
    const [by, text] = [personOf(request, request.body), request.body.text.trim()];
    return noteOne(request, request.params, { kind: 'note', by, text });
  });

  app.put('/filings/:filingId/assignee', assignFiling, async (request) => {
    const [by, assignee] = [personOf(request, request.body), request.body.assignee?.trim() ?? null];
    return noteOne(request, request.params, { kind: 'assigned', by, assignee });
  });
}

type SeenRequest = FastifyRequest & { readonly body: Static<typeof seenInputSchema> };

function seenStep(request: SeenRequest): TriageStep {
  return { kind: 'seen', by: personOf(request, request.body), text: request.body.note?.trim() ?? null };
}

/** The person that a request names, or the holder of its token. */
function personOf(request: FastifyRequest, { by }: { readonly by?: string }): string {
  return by?.trim() ?? tokenOf(request)?.name ?? 'the operator';
}

// Why nothing was noted; null if the filing is now as requested.
function refusalOf(result: Noted | undefined): Problem | null {
  switch (result) {
    case 'noted':
    case 'unchanged':
      return null;
    case 'not_rejected':
      return new Problem(
        'filing_not_rejected',
        'Only a filing that is REJECTED now can be marked as seen; GET the filing shows its status.',
      );
    case 'full':
      return new Problem(
        'account_quota_exceeded',
        'Something is noted of as many filings of the account as may be: take marks, and assignments of filings, away.',
      );
    case 'unknown':
    case undefined:
      return notFound('filing_not_found');
  }
}

// Maximum characters of a name and of a note.
const nameMax = 100;
const noteMax = 500;
// Maximum number of filings that are marked at once.
const markedMax = 500;

const name = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: nameMax,
    pattern: linePattern,
    description,
    examples: ['Dana Reyes'],
  });

/** A `by` of a request. */
const person = (description: string) =>
  Type.Optional(name(`${description} By default the name of the token.`));

const noteText = Type.String({
  minLength: 1,
  maxLength: noteMax,
  pattern: linePattern,
  description: 'What is done about it.',
  examples: ['Asked the broker for the signed affidavit.'],
});

const seenFields = {
  by: person('Who has seen it.'),
  note: Type.Optional(s.nullable(noteText)),
};

/** Body of PUT …/seen. */
const seenInputSchema = s.shared('SeenInput', seenFields);

const refusedSchema = s.record({
  filingId: Type.String({ examples: ['f_123'] }),
  code: s.string('The `code` with which a request for this filing alone is refused.', {
    examples: ['filing_not_rejected'],
  }),
  detail: s.string('Why, and what to do.'),
});

const repeated = 'What is so already is not noted again: a repeated request appends nothing.';

const markFilingSeen = s.operation({
  config: { triages: true, bodyOptional: true },
  operationId: 'markFilingSeen',
  summary: 'Note that somebody has seen a rejection',
  description: `The mark belongs to the present rejection: another status or reason makes the filing unseen. A mark that is there is replaced. Appends filing.noted. ${repeated}`,
  params: filingParams,
  body: seenInputSchema,
  response: { 200: s.answer(filingSchema, 'The filing.'), 409: s.conflict },
});

const markFilingsSeen = s.operation({
  config: { triages: true },
  operationId: 'markFilingsSeen',
  summary: 'Note that somebody has seen several rejections',
  description: `Each as by itself; those that cannot be marked are named in the answer, and the others are marked. ${repeated}`,
  params: s.inAccount,
  body: s.record({
    ids: Type.Array(Type.String({ minLength: 1, maxLength: 256, examples: ['f_123'] }), {
      minItems: 1,
      maxItems: markedMax,
      description: 'Ids of the filings.',
    }),
    ...seenFields,
  }),
  response: {
    200: s.answer(
      s.record({
        marked: Type.Array(Type.String({ examples: ['f_123'] }), { description: 'Seen by this person now.' }),
        refused: Type.Array(refusedSchema, { description: 'Not marked, and why.' }),
      }),
      'What was marked and what not.',
    ),
  },
});

const unmarkFilingSeen = s.operation({
  config: { triages: true },
  operationId: 'unmarkFilingSeen',
  summary: 'Take the mark back that somebody has seen a rejection',
  description:
    'The filing counts as not seen again; its notes stay. Appends filing.noted; without a mark nothing happens.',
  params: filingParams,
  querystring: s.record({ by: person('Who takes it back.') }),
  response: { 204: { type: 'null', description: 'It counts as unseen.' }, 409: s.conflict },
});

const writeNote = s.operation({
  config: { triages: true },
  operationId: 'writeFilingNote',
  summary: 'Write a note on a filing',
  description: `Every note is appended to the log as filing.noted; the filing shows the latest one. A note that is the latest already, word for word by the same person, is not written again, so that a request may be repeated.`,
  params: filingParams,
  body: s.shared('NoteInput', { by: person('Who writes it.'), text: noteText }),
  response: { 200: s.answer(filingSchema, 'The filing.'), 409: s.conflict },
});

const assignFiling = s.operation({
  config: { triages: true },
  operationId: 'assignFiling',
  summary: 'Assign a filing to a person',
  description: `It stays assigned whatever becomes of the filing. Appends filing.noted. ${repeated}`,
  params: filingParams,
  body: s.shared('AssigneeInput', {
    by: person('Who assigns it.'),
    assignee: Type.Refine(
      s.nullable(name('To whom it is assigned; null = to nobody.')),
      (value) => value?.trim().toLowerCase() !== unassigned,
      () => 'must be a name, or null for nobody',
    ),
  }),
  response: { 200: s.answer(filingSchema, 'The filing.'), 409: s.conflict },
});
