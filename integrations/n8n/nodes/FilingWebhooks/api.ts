import {
  NodeApiError,
  type IDataObject,
  type IExecuteFunctions,
  type IHookFunctions,
  type IHttpRequestMethods,
  type IHttpRequestOptions,
  type IN8nHttpFullResponse,
  type ILoadOptionsFunctions,
  type IWebhookFunctions,
  type JsonObject,
} from 'n8n-workflow';

/** The functions of n8n from which the daemon can be called. */
export type Caller = IExecuteFunctions | IHookFunctions | ILoadOptionsFunctions | IWebhookFunctions;

/** A request below the account of the credentials, or below `/v1` where `path` begins with a slash. */
export interface ApiRequest {
  readonly method: IHttpRequestMethods;
  readonly path: string;
  readonly query?: IDataObject;
  readonly body?: IDataObject;
  /** Statuses outside of 2xx that the caller understands. */
  readonly expected?: readonly number[];
}

/** What the daemon answered. `body` is empty where the answer has none. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: IDataObject;
}

const credentialsName = 'filingWebhooksApi';

/**
 * Asks the daemon with the credentials of the node. Throws a NodeApiError with the words of the daemon's problem
 * document (RFC 9457) for a status that is neither 2xx nor expected, and one that names the address where nothing answers.
 */
export async function callApi(this: Caller, request: ApiRequest): Promise<ApiAnswer> {
  const credentials = await this.getCredentials<{ baseUrl: string; account: string }>(credentialsName);
  const root = `${credentials.baseUrl.replace(/(\/v1)?\/*$/, '')}/v1`;
  const base = `${root}/accounts/${encodeURIComponent(credentials.account)}`;
  const options: IHttpRequestOptions = {
    method: request.method,
    url: request.path.startsWith('/') ? root + request.path : `${base}${request.path && `/${request.path}`}`,
    json: true,
    returnFullResponse: true,
    ignoreHttpStatusErrors: true,
    ...(request.query && { qs: present(request.query) }),
    ...(request.body && { body: request.body }),
  };
  let answer: IN8nHttpFullResponse;
  try {
    answer = (await this.helpers.httpRequestWithAuthentication.call(
      this,
      credentialsName,
      options,
    )) as IN8nHttpFullResponse;
  } catch (error) {
    throw new NodeApiError(this.getNode(), error as JsonObject, {
      message: `filing-webhooks does not answer at ${credentials.baseUrl}`,
      description: `Check the Base URL of the credentials and that the daemon runs (${(error as Error).message}).`,
    });
  }
  const body = isObject(answer.body) ? answer.body : {};
  const { statusCode: status } = answer;
  if ((status >= 200 && status < 300) || request.expected?.includes(status)) return { status, body };
  throw new NodeApiError(this.getNode(), { ...body, status } as JsonObject, {
    httpCode: String(status),
    ...explain(status, body),
  });
}

/** Reads the pages of a list until there are `limit` items (null = all of them) or no more pages. */
export async function readList(
  this: Caller,
  path: string,
  query: IDataObject,
  limit: number | null,
): Promise<IDataObject[]> {
  const items: IDataObject[] = [];
  let cursor: unknown = null;
  do {
    const missing = limit === null ? pageItemsMax : Math.min(pageItemsMax, limit - items.length);
    const page = await callApi.call(this, {
      method: 'GET',
      path,
      query: { ...query, limit: missing, ...(typeof cursor === 'string' && { cursor }) },
    });
    items.push(...(page.body['items'] as IDataObject[]));
    cursor = page.body['nextCursor'];
  } while (typeof cursor === 'string' && (limit === null || items.length < limit));
  return items;
}

/** Maximum number of items that the API puts on a page. */
const pageItemsMax = 100;

function explain(status: number, body: IDataObject): { message: string; description: string } {
  const title = typeof body['title'] === 'string' ? body['title'] : `filing-webhooks answered ${status}`;
  const detail = typeof body['detail'] === 'string' ? body['detail'] : '';
  // n8n shows only the message where it says why a workflow cannot be published.
  return { message: detail === '' ? title : `${title}: ${detail}`, description: advice[status] ?? detail };
}

const advice: Readonly<Record<number, string>> = {
  401: 'The token of the credentials is wrong, expired or revoked: enter a new one.',
  403: 'The token of the credentials may not do this: enter one that may.',
  404: 'Check the Account of the credentials and the id: a token sees only its own account.',
};

function isObject(value: unknown): value is IDataObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A query without what the user left empty. */
function present(query: IDataObject): IDataObject {
  return Object.fromEntries(
    Object.entries(query).filter(([, value]) => value !== '' && value !== undefined && value !== null),
  );
}
