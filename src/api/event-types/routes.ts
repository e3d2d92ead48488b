import type { ApiDeps } from '../deps.ts';
import type { Api } from '../server/api-instance.ts';
import { asyncApiDocument } from './async-api.ts';
import { eventCatalogue } from './catalogue.ts';
import { getAsyncApi, listEventTypes } from './schema.ts';

/** The catalogue of event types, made once: it is the same for every caller. */
export function addEventTypeRoutes(app: Api, { version }: Pick<ApiDeps, 'version'>): void {
  const catalogue = eventCatalogue();
  const items = [...catalogue];
  const document = asyncApiDocument(catalogue, version);
  app.get('/event-types', { config: { anyToken: true }, schema: listEventTypes }, async () => ({ items }));
  app.get('/asyncapi.json', { config: { anyToken: true }, schema: getAsyncApi }, async () => document);
}
