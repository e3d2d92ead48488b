import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { type Linked, linkAnswer } from '../../filings/link-answer.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { invalidValue, notFound, Problem } from '../shared/problem.ts';
import * as s from '../shared/schema.ts';
import { wakeSoon } from '../subscriptions/find.ts';
import { filingParams } from './filings.ts';
import { showFiling } from './told.ts';
import { filingSchema } from './view.ts';

/** A person's word on which filing answers a rejection. */
export function addAnswerRoutes(app: Api, deps: ApiDeps): void {
  async function link(
    request: FastifyRequest,
    { account, filingId }: Static<typeof filingParams>,
    answeredBy: string | null,
  ) {
    const result = await linkAnswer(deps, account, filingId, answeredBy);
    const refused = refusalOf(result);
    if (refused !== null) throw refused;
    if (result === 'linked') await wakeSoon(deps, { account }, request.log);
    return showFiling(deps, request, account, filingId);
  }

  const path = '/filings/:filingId/answer';
  app.put(path, linkFilingAnswer, async (request) => link(request, request.params, request.body.answeredBy));
  app.delete(path, unlinkFilingAnswer, async (request, reply) => {
    await link(request, request.params, null);
    return reply.code(204).send(null);
  });
}

// Why nothing was written; null if the filing is now as requested.
function refusalOf(result: Linked): Problem | null {
  switch (result) {
    case 'linked':
    case 'unchanged':
      return null;
    case 'unknown':
      return notFound('filing_not_found');
    case 'not_rejected':
      return new Problem(
        'filing_not_rejected',
        'Only a filing that is REJECTED now is answered by another; GET the filing shows its status.',
      );
    case 'unknown_answer':
      return invalidValue(
        'answeredBy',
        'must be the id of another filing of this account that the partner service knows; GET …/filings?q= finds filings',
      );
    case 'answers_another':
      return invalidValue(
        'answeredBy',
        'answers another rejection already, which the filing names in `answers`: DELETE …/answer of that one first',
      );
    case 'circle':
      return invalidValue('answeredBy', 'is itself answered by this filing, so that neither would be open');
  }
}

const linkFilingAnswer = s.operation({
  config: { triages: true },
  operationId: 'linkFilingAnswer',
  summary: 'Say which filing answers a rejection',
  description:
    'From then on the rejection is not open. A filing with the same policy number, state, type and endorsement number is linked by itself when it appears. Appends filing.resubmitted; what is so already is not written again.',
  params: filingParams,
  body: s.shared('AnswerInput', {
    answeredBy: Type.String({
      minLength: 1,
      maxLength: 256,
      description: 'Id of the filing that answers the rejection.',
      examples: ['f_124'],
    }),
  }),
  response: { 200: s.answer(filingSchema, 'The filing.'), 409: s.conflict },
});

const unlinkFilingAnswer = s.operation({
  config: { triages: true },
  operationId: 'unlinkFilingAnswer',
  summary: 'Say that no filing answers a rejection',
  description:
    'The rejection is open again, and is not linked again by itself to the same filing. Appends filing.resubmitted with `answeredBy` null; without an answer nothing happens.',
  params: filingParams,
  response: { 204: { type: 'null', description: 'No filing answers it.' } },
});
