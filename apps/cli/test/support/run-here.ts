import { PassThrough } from 'node:stream'
import { run } from '../../src/run.ts'
import type { CliResult, CliRun } from './run-cli.ts'

/** Runs the command line in this process, without a terminal: as a process of its own it takes half a second to start. */
export async function runHere({ args, env, cwd, input = '' }: Omit<CliRun, 'interrupt'>): Promise<CliResult> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  stdin.end(input)
  const [readOut, readErr] = [collect(stdout), collect(stderr)]
  const code = await run({
    args,
    environment: env,
    cwd,
    stdin: stdin as unknown as NodeJS.ReadStream,
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stderr as unknown as NodeJS.WriteStream,
    signal: new AbortController().signal,
  })
  return { code, stdout: readOut(), stderr: readErr() }
}

function collect(stream: PassThrough): () => string {
  const chunks: Buffer[] = []
  stream.on('data', (chunk: Buffer) => void chunks.push(chunk))
  return () => Buffer.concat([...chunks, (stream.read() as Buffer | null) ?? Buffer.alloc(0)]).toString()
}
