import type { ErrorBody } from '../../../src/sandbox/errors.ts';
import type { FilingState } from '../../../src/sandbox/filings/filing-states.ts';
import type { Filing, FilingType } from '../../../src/sandbox/filings/filing.ts';
import { createSandbox } from '../../../src/sandbox/sandbox.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox-app.ts';

export const firstKey = 'sandbox-key';
export const secondKey = 'sandbox-key-2';

/** An answer as it came over the wire; `body` is the parsed JSON, or the text where it is none. */
interface Answer<T> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

interface CallOptions {
  readonly key?: string | null;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

export interface UploadTicket {
  readonly uploadUrl: string;
  readonly fileName: string;
  readonly storagePath: string;
}

/** A listening sandbox and the calls that tests make to it. */
export interface TestSandbox extends AsyncDisposable {
  readonly url: string;
  /** Calls a path below `/v1/partner`; without `key: null` with the first account's key. */
  call<T = ErrorBody>(method: string, path: string, options?: CallOptions): Promise<Answer<T>>;
  /** Calls a path below `/_sandbox`. */
  control<T = ErrorBody>(method: string, path: string, body?: unknown): Promise<Answer<T>>;
  /** Sends bytes to a signed URL. */
  put(uploadUrl: string, bytes: string, contentType?: string): Promise<Answer<ErrorBody>>;
  /**
   * Uploads one file for every document that the filing type needs and returns the `files` of
   * `create-filing`.
   */
  uploadAll(state: FilingState, filingType: FilingType): Promise<FileInput[]>;
  /** The state that the first account may file in. */
  state(stateAbbr: string): Promise<FilingState>;
  /** A body that `create-filing` accepts. */
  filingBody(filingType?: FilingType, stateAbbr?: string): Promise<FilingInput>;
  /** Creates a filing the way a partner does. */
  createFiling(): Promise<Filing>;
}

interface FileInput {
  readonly name: string;
  readonly fileName: string;
  readonly filePath: string;
}

export type FilingInput = Record<string, unknown> & { readonly files: FileInput[] };

/** Starts a sandbox on a free port of the loopback interface. */
export async function startSandbox(options: SandboxOptions = {}): Promise<TestSandbox> {
  const app = createSandbox(options);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const sandbox: TestSandbox = {
    url,
    call: (method, path, call = {}) =>
      send(method, `${url}/v1/partner${path}`, {
        ...call,
        headers: { ...keyHeader(call.key), ...call.headers },
      }),
    control: (method, path, body) => send(method, `${url}/_sandbox${path}`, { body }),
    put: (uploadUrl, bytes, contentType = 'application/octet-stream') =>
      send('PUT', uploadUrl, { text: bytes, headers: { 'content-type': contentType } }),
    uploadAll: async (state, filingType) => uploadAll(sandbox, state, filingType),
    async state(stateAbbr) {
      const { body } = await sandbox.call<FilingState[]>('GET', `/filing-states?state=${stateAbbr}`);
      const [state] = body;
      if (state === undefined) throw new Error(`no state ${stateAbbr}`);
      return state;
    },
    async filingBody(filingType = 'NEW_BUSINESS', stateAbbr = 'TX') {
      const state = await sandbox.state(stateAbbr);
      return {
        filingType,
        filingStateId: state.id,
        policyNumber: 'SL-100',
        insuredsName: 'Lakeshore Hotel LLC',
        carriersName: 'Ironbark Indemnity',
        policyEffectiveDate: '2026-02-28',
        premium: 1234.5,
        files: await sandbox.uploadAll(state, filingType),
      };
    },
    async createFiling() {
      const body = await sandbox.filingBody();
      return (await sandbox.call<Filing>('POST', '/create-filing', { body })).body;
    },
    [Symbol.asyncDispose]: async () => app.close(),
  };
  return sandbox;
}

async function uploadAll(
  sandbox: TestSandbox,
  state: FilingState,
  filingType: FilingType,
): Promise<FileInput[]> {
  const documents = filingType.startsWith('NEW_BUSINESS') ? state.filesNb : state.filesEd;
  return Promise.all(
    documents.map(async ({ name }) => {
      const ticket = await sandbox.call<UploadTicket>('POST', '/upload-user-file', {
        body: { fileName: `${name}.pdf` },
      });
      await sandbox.put(ticket.body.uploadUrl, 'bytes');
      return { name, fileName: ticket.body.fileName, filePath: ticket.body.storagePath };
    }),
  );
}

function keyHeader(key: string | null | undefined): Record<string, string> {
  return key === null ? {} : { PartnerKey: key ?? firstKey };
}

interface RawCall {
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

async function send<T>(method: string, url: string, call: RawCall): Promise<Answer<T>> {
  const json = call.body === undefined ? undefined : JSON.stringify(call.body);
  const response = await fetch(url, {
    method,
    headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...call.headers },
    ...(call.signal === undefined ? {} : { signal: call.signal }),
    ...(json === undefined && call.text === undefined ? {} : { body: call.text ?? json ?? '' }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parseAny(text) };
}

function parseAny(text: string) {
  try {
    return JSON.parse(text);
  } catch {
    return JSON.parse(JSON.stringify(text));
  }
}
