import type { NewSandboxV2 } from '@sandyard/api-contract/sandboxes/new-sandbox'

export const TIME_UNITS = { seconds: 1, minutes: 60, hours: 3600 } as const
export type TimeUnit = keyof typeof TIME_UNITS

export type Pair = readonly [name: string, value: string]

/** What the form has. */
export interface NewSandboxForm {
  readonly template: string
  readonly time: number
  readonly unit: TimeUnit
  readonly atEnd: 'kill' | 'pause'
  readonly autoResume: boolean
  readonly keepMemory: boolean
  readonly metadata: readonly Pair[]
  readonly env: readonly Pair[]
  readonly internet: 'all' | 'none' | 'list'
  readonly allowOut: string
  readonly isPublic: boolean
  readonly isSecure: boolean
}

export const EMPTY_FORM: NewSandboxForm = {
  template: 'base',
  time: 15,
  unit: 'minutes',
  atEnd: 'kill',
  autoResume: false,
  keepMemory: true,
  metadata: [],
  env: [],
  internet: 'all',
  allowOut: '',
  isPublic: true,
  isSecure: true,
}

export function timeoutSeconds({ time, unit }: Pick<NewSandboxForm, 'time' | 'unit'>): number {
  return Math.round(time * TIME_UNITS[unit])
}

/** Everything is denied, then these are allowed (control-plane.md 18.3). */
const EVERYTHING = '0.0.0.0/0'

/** The body of `POST /v2/sandboxes`, without what is as it is by default. */
export function toBody(form: NewSandboxForm): NewSandboxV2 {
  const metadata = toRecord(form.metadata)
  const envVars = toRecord(form.env)
  const network = {
    ...(form.internet === 'list' && { allowOut: linesOf(form.allowOut), denyOut: [EVERYTHING] }),
    ...(!form.isPublic && { allowPublicTraffic: false }),
  }
  return {
    templateID: form.template.trim(),
    timeout: timeoutSeconds(form),
    ...(form.atEnd === 'pause' && {
      autoPause: true,
      ...(!form.keepMemory && { autoPauseMemory: false }),
      // A resume needs the memory, as the SDKs say.
      ...(form.autoResume && form.keepMemory && { autoResume: { enabled: true } }),
    }),
    ...(!form.isSecure && { secure: false }),
    ...(metadata !== undefined && { metadata }),
    ...(envVars !== undefined && { envVars }),
    ...(form.internet === 'none' && { allow_internet_access: false }),
    ...(Object.keys(network).length > 0 && { network }),
  }
}

function linesOf(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function toRecord(pairs: readonly Pair[]): Record<string, string> | undefined {
  const named = pairs.filter(([name]) => name.trim() !== '')
  return named.length === 0 ? undefined : Object.fromEntries(named.map(([name, value]) => [name.trim(), value]))
}

/** What is wrong with the form; undefined: nothing. */
export function isComplete(form: NewSandboxForm, maxSeconds: number): boolean {
  const seconds = timeoutSeconds(form)
  const isTimeFine = Number.isFinite(seconds) && seconds >= 1 && seconds <= maxSeconds
  return form.template.trim() !== '' && isTimeFine && (form.internet !== 'list' || linesOf(form.allowOut).length > 0)
}
