import type { Readable } from 'node:stream';
import { Type } from 'typebox';
import { problems } from '../shared/schema.ts';
import {
  filingListSchema,
  filingParams,
  filingWithEventsSchema,
  filingsParams,
  filingsQuerySchema,
} from './schema.ts';

/** What GET /v1/accounts/{account}/filings takes and answers. */
export const listFilings = {
  tags: ['Filings'],
  operationId: 'listFilings',
  summary: 'List filings as last seen',
  description:
    'With `Accept: text/csv` the whole list as a spreadsheet takes it (RFC 4180, UTF-8), whatever `limit`, `cursor` and `order` say. Texts that a ' +
    'spreadsheet would take for a formula have an apostrophe in front.',
  params: filingsParams,
  querystring: filingsQuerySchema,
  response: {
    200: {
      description: 'A page as JSON, or the whole list as CSV.',
      content: {
        'application/json': { schema: filingListSchema },
        'text/csv': {
          schema: Type.Unsafe<Readable>(
            Type.String({ description: 'A header line and a line for each filing.' }),
          ),
        },
      },
    },
    ...problems(422),
  },
};

/** What GET /v1/accounts/{account}/filings/{filingId} takes and answers. */
export const getFiling = {
  tags: ['Filings'],
  operationId: 'getFiling',
  summary: 'A filing as last seen, and its events',
  params: filingParams,
  response: { 200: filingWithEventsSchema, ...problems() },
};
