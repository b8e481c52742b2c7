import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import type { FastifyInstance } from 'fastify'
import { type Static, Type } from 'typebox'
import { toLines } from '../cells/cell-output.ts'
import { CellStream } from '../cells/cell-stream.ts'
import type { OutputLine } from '../cells/output-line.ts'
import type { ServerContext } from '../context.ts'
import type { CodeContext } from '../contexts/code-context.ts'
import { CellLost } from '../kernels/kernel.ts'
import { findLanguageRules, toLanguage } from '../languages/languages.ts'
import { checkVariables } from '../variables/check-variables.ts'
import { readSandboxVariables } from '../variables/read-sandbox-variables.ts'
import { nullable } from './nullable.ts'

const Body = Type.Object({
  code: Type.String(),
  context_id: nullable(Type.String()),
  language: nullable(Type.String()),
  env_vars: nullable(Type.Record(Type.String(), Type.String())),
})

/** Runs a cell and streams its output, a JSON object a line, until it has ended (clients.md 1.10). */
export function registerExecute(app: FastifyInstance, { contexts, daemonUrl, log }: ServerContext): void {
  app.post('/execute', { schema: { body: Body } }, async (request, reply) => {
    const { code, context_id: id, language, env_vars: variables } = request.body as Static<typeof Body>
    if (id && language) throw new AppError('invalid_argument', 'Only one of context_id or language can be provided')
    if (variables) checkVariables(variables)
    const context = id ? contexts.get(id) : await contexts.getDefault(toLanguage(language))
    const token = request.headers['x-access-token']
    const quotes = findLanguageRules(context.language)?.quotes ?? []
    reply.hijack()
    const stream = new CellStream(reply.raw)
    try {
      const sandboxVariables = await readSandboxVariables(daemonUrl, typeof token === 'string' ? token : undefined, log)
      const onMessage = (message: Parameters<typeof toLines>[0]): void => {
        for (const line of toLines(message, quotes)) stream.write(line)
      }
      const failure = await context.run({ code, variables: variables ?? {}, sandboxVariables, onMessage }, stream.signal)
      if (failure !== undefined) stream.write({ type: 'error', ...failure })
    } catch (err) {
      const line = toErrorLine(err, context, stream.signal)
      if (line === undefined) log.error({ err, context: context.id }, 'a cell could not be run')
      stream.write(line ?? { type: 'error', name: 'InternalError', value: 'the cell could not be run', traceback: '' })
    } finally {
      stream.end()
    }
    return reply
  })
}

/** What a client reads about a cell that did not come to its end. */
function toErrorLine(err: unknown, context: CodeContext, signal: AbortSignal): OutputLine | undefined {
  const toLine = (name: string, value: string): OutputLine => ({ type: 'error', name, value, traceback: '' })
  if (err instanceof CellLost) {
    return context.wasRestarted
      ? toLine('ContextRestarting', 'Context was restarted')
      : toLine('UnexpectedEndOfExecution', 'Connection to the execution was closed before the execution was finished')
  }
  if (isAppError(err)) return toLine('ExecutionFailed', err.message)
  return signal.aborted ? toLine('ExecutionFailed', 'the client has gone') : undefined
}
