import { problems } from './common-schema.ts';
import {
  filingListSchema,
  filingParams,
  filingWithEventsSchema,
  filingsParams,
  filingsQuerySchema,
} from './filings-schema.ts';

/** What GET /v1/accounts/{account}/filings takes and answers. */
export const listFilings = {
  tags: ['Filings'],
  operationId: 'listFilings',
  summary: 'List filings as last seen',
  params: filingsParams,
  querystring: filingsQuerySchema,
  response: { 200: filingListSchema, ...problems(422) },
};

/** What GET /v1/accounts/{account}/filings/{filingId} takes and answers. */
export const getFiling = {
  tags: ['Filings'],
  operationId: 'getFiling',
  summary: 'A filing as last seen, and its events',
  params: filingParams,
  response: { 200: filingWithEventsSchema, ...problems() },
};
