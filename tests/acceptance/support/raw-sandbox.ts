import { callApi, type ApiAnswer } from './api.ts'

export interface RawSandbox {
  readonly id: string
  /** The token of the sandbox's daemon; empty if it has none. */
  readonly token: string
  readonly answer: ApiAnswer
}

/** Creates a sandbox by an HTTP request, e.g. `POST /sandboxes`, passes it to `work` and kills it, also if `work` fails. */
export async function withRawSandbox<T>(
  operation: 'POST /sandboxes' | 'POST /v2/sandboxes',
  body: Record<string, unknown>,
  work: (sandbox: RawSandbox) => Promise<T>,
): Promise<T> {
  const answer = await callApi(operation, { body: { templateID: 'base', ...body } })
  if (answer.status !== 201) throw new Error(`${operation} answered ${answer.status}: ${answer.text}`)
  const id = String(answer.body['sandboxID'])
  const token = typeof answer.body['envdAccessToken'] === 'string' ? answer.body['envdAccessToken'] : ''
  try {
    return await work({ id, token, answer })
  } finally {
    await callApi(`DELETE /sandboxes/${id}`)
  }
}
