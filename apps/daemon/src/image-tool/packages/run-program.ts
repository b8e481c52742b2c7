import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { at, type Image } from '../image.ts'
import { PROGRAM_DIRECTORIES } from './find-program.ts'

export interface ProgramRun {
  /** A path in the image. */
  readonly program: string
  readonly args: readonly string[]
  readonly timeoutMs: number
}

/** A package manager gets only the proxy settings of the environment. */
const PASSED_ON = /^(?:https?|ftp|no|all)_proxy$/i

/** Runs a program of the image and forwards its output line by line. Undefined on success, else the error. */
export async function runProgram(image: Image, { program, args, timeoutMs }: ProgramRun): Promise<string | undefined> {
  const child = spawn(at(image, program), args, {
    env: toEnvironment(image.environment),
    cwd: image.root,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    killGroup(child.pid)
  }, timeoutMs)
  try {
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
    const [[code, signal], , lastComplaint] = await Promise.all([ended, passLines(image, child.stdout), passLines(image, child.stderr)])
    if (code === 0) return undefined
    if (timedOut) return `${program} took too long`
    return lastComplaint ?? `${program} ended with ${code === null ? `signal ${signal}` : `exit status ${code}`}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    clearTimeout(timer)
  }
}

/** The process group of the program. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // The group has ended.
  }
}

/** @returns the last line */
async function passLines(image: Image, stream: Readable): Promise<string | undefined> {
  let last: string | undefined
  for await (const line of createInterface({ input: stream })) {
    const text = line.trim()
    if (text === '') continue
    last = text
    image.say(text)
  }
  return last
}

function toEnvironment(own: Image['environment']): NodeJS.ProcessEnv {
  const passedOn = Object.entries(own).filter(([name]) => PASSED_ON.test(name))
  return {
    PATH: PROGRAM_DIRECTORIES.join(':'),
    HOME: '/root',
    LANG: 'C',
    DEBIAN_FRONTEND: 'noninteractive',
    ...Object.fromEntries(passedOn),
  }
}
