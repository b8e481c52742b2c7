import { AppError } from '@sandyard/kit/errors/app-error'

/** The JSON that a command was given. */
export class Request {
  readonly #fields: Readonly<Record<string, unknown>>

  /** @throws AppError `invalid_argument` for anything but a JSON object */
  constructor(text: string) {
    this.#fields = parseObject(text)
  }

  /** @throws AppError `invalid_argument` if it is missing or not a string */
  text(name: string): string {
    return this.optionalText(name) ?? refuse(`'${name}' is missing`)
  }

  /** Undefined if it is null or missing. */
  optionalText(name: string): string | undefined {
    const value = this.#fields[name] ?? undefined
    if (value === undefined) return undefined
    if (typeof value !== 'string' || value.includes('\0')) return refuse(`'${name}' is no text`)
    return value
  }

  /** False if it is missing. */
  flag(name: string): boolean {
    const value = this.#fields[name] ?? false
    return typeof value === 'boolean' ? value : refuse(`'${name}' is neither true nor false`)
  }

  count(name: string, fallback: number): number {
    const value = this.#fields[name] ?? fallback
    return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : refuse(`'${name}' is no count`)
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refuse('the request is no JSON')
  }
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : refuse('the request is no JSON object')
}

function refuse(message: string): never {
  throw new AppError('invalid_argument', message)
}
