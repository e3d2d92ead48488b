/** An answer of the API: status, headers and the parsed body (null when it was empty). */
export interface ApiAnswer<T = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: T;
}

/** Calls the API over HTTP with one token. */
export interface ApiCaller {
  call<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiAnswer<T>>;
  /** `call` that throws unless the answer is a 2xx; returns its body. */
  ok<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>;
}

/** A caller of the API at `url`; without a token it sends none. */
export function openApi(url: string, token: string | null): ApiCaller {
  const call: ApiCaller['call'] = async <T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiAnswer<T>> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: (text === '' ? null : JSON.parse(text)) as T,
    };
  };
  return {
    call,
    async ok<T>(method: string, path: string, body?: unknown) {
      const answer = await call<T>(method, path, body);
      if (answer.status < 200 || answer.status > 299) {
        throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      }
      return answer.body;
    },
  };
}
