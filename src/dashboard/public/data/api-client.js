/** An error response of the API, or no response at all (status 0, code `unreachable`). */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} code stable, see the API reference
   * @param {string} detail a sentence that says what to do
   * @param {{ path: string, message: string }[]} errors each wrong value of the request
   */
  constructor(status, code, detail, errors = []) {
    super(detail);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}

const mode = globalThis.self === globalThis.top ? 'page' : 'frame';

/**
 * Calls the API of the daemon that served this page.
 * @typedef {object} ApiClient
 * @property {(path: string, signal?: AbortSignal) => Promise<any>} get the parsed answer; rejects with
 * ApiError
 * @property {(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
 * Promise<any>} send the parsed answer, null when it is empty
 * @property {(path: string, mediaType: string) => Promise<Blob>} getAs an answer of a media type; rejects with
 * ApiError
 * @property {() => number} now milliseconds on the daemon's clock, to within a second
 */

/**
 * Calls with the session's cookie, which the browser adds. It counts only with the header that says where the
 * page runs, because no page of another origin can send that.
 * @param {() => void} onRefused called for every answer 401
 * @returns {ApiClient}
 */
export function createApiClient(onRefused) {
  let skewMs = 0;

  /** @type {(path: string, init: RequestInit, headers?: Record<string, string>) => Promise<Response>} */
  async function request(path, init, headers = {}) {
    const response = await reach(path, {
      ...init,
      headers: { ...headers, 'x-filing-webhooks': mode },
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
    });
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) skewMs = date - Date.now();
    if (response.ok) return response;
    if (response.status === 401) onRefused();
    throw await toApiError(response);
  }

  return {
    get: async (path, signal) => (await request(path, signal === undefined ? {} : { signal })).json(),
    async send(method, path, body, more = {}) {
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const headers = body === undefined ? more : { ...more, 'content-type': 'application/json' };
      const text = await (await request(path, { method, ...json }, headers)).text();
      return text === '' ? null : JSON.parse(text);
    },
    getAs: async (path, mediaType) => (await request(path, {}, { accept: mediaType })).blob(),
    now: () => Date.now() + skewMs,
  };
}

/**
 * A path below `/v1`; each segment may hold any character.
 * @param {...string} segments
 */
export function apiPath(...segments) {
  return ['v1', ...segments.map((segment) => encodeURIComponent(segment.toWellFormed()))].join('/');
}

/** @type {(path: string, init: RequestInit) => Promise<Response>} */
async function reach(path, init) {
  try {
    return await fetch(new URL(path, document.baseURI), init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(
      0,
      'unreachable',
      'The daemon does not answer. Check that it runs and that this machine reaches it.',
    );
  }
}

/** @type {(response: Response) => Promise<ApiError>} */
async function toApiError(response) {
  try {
    const { code, detail, errors } = await response.json();
    return new ApiError(response.status, String(code), String(detail), errorsOf(errors));
  } catch {
    const detail = `The answer was ${response.status} without a reason. A proxy in between may have sent it; see the daemon's log.`;
    return new ApiError(response.status, 'unknown', detail);
  }
}

/** @type {(errors: unknown) => { path: string, message: string }[]} */
function errorsOf(errors) {
  if (!Array.isArray(errors)) return [];
  return errors.map((error) => ({ path: String(error?.path ?? ''), message: String(error?.message ?? '') }));
}

/**
 * Saves an answer of the API as a file. Rejects with ApiError.
 * @param {ApiClient} client
 * @param {string} path
 * @param {string} mediaType which the answer shall have
 * @param {string} name of the file
 */
export async function download(client, path, mediaType, name) {
  const address = URL.createObjectURL(await client.getAs(path, mediaType));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
