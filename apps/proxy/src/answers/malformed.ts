import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { endWithAnswer } from './raw-answer.ts'

const ANSWERS: Readonly<Record<string, readonly [status: number, text: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The request headers are too large'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'The chunk extensions are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request headers took too long'],
}

/** Answers bytes that are no HTTP request, unless `last`, the newest answer on that connection, is on its way: then only a cut is left. */
export function answerMalformed(err: NodeJS.ErrnoException, socket: Socket, last: ServerResponse | undefined): void {
  const isMidAnswer = last?.headersSent === true && !last.writableFinished
  if (err.code === 'ECONNRESET' || !socket.writable || isMidAnswer) {
    socket.destroy()
    return
  }
  const [status, text] = ANSWERS[err.code ?? ''] ?? [400, 'Bad request']
  endWithAnswer(socket, { status, headers: ['Content-Type', 'text/plain; charset=utf-8'] }, text)
}
