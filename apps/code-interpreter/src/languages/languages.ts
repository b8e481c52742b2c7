import { JAVASCRIPT_FENCE, JAVASCRIPT_SETUP, javascriptVariables } from './javascript.ts'
import { pythonVariables } from './python.ts'
import { rVariables } from './r.ts'
import { findSyntaxError } from './syntax-error.ts'
import { variablesLine } from './variables-line.ts'
import type { VariablesToCode } from './variables-to-code.ts'

export const DEFAULT_LANGUAGE = 'python'

const ALIASES: Readonly<Record<string, string>> = { python3: 'python', js: 'javascript', ts: 'typescript' }

/** The library of Jupyter takes `python` for another name of this kernel. */
const PYTHON_KERNEL = 'python3'

/** What the server knows of a language beside its kernel. */
export interface LanguageRules {
  readonly toVariablesCode: VariablesToCode
  /** Code that runs before the first cell of a kernel. */
  readonly setup?: string
  /** See `Kernel.run`. */
  readonly fence?: string
  /** Says more about code that the kernel could not run. */
  readonly findSyntaxError?: typeof findSyntaxError
  /** The quotes around a string that is a result; they are not part of its text. */
  readonly quotes: readonly string[]
}

const JAVASCRIPT: LanguageRules = {
  toVariablesCode: javascriptVariables,
  setup: JAVASCRIPT_SETUP,
  fence: JAVASCRIPT_FENCE,
  findSyntaxError,
  quotes: ['"', "'", '`'],
}

const RULES: Readonly<Record<string, LanguageRules>> = {
  python: { toVariablesCode: pythonVariables, quotes: ["'"] },
  javascript: JAVASCRIPT,
  typescript: JAVASCRIPT,
  bash: { toVariablesCode: variablesLine, quotes: [] },
  java: { toVariablesCode: variablesLine, quotes: [] },
  r: { toVariablesCode: rVariables, quotes: [] },
}

/** The name of a language as contexts have it. */
export function toLanguage(wanted: string | null | undefined): string {
  const name = (wanted ?? '').trim().toLowerCase() || DEFAULT_LANGUAGE
  return ALIASES[name] ?? name
}

/** The name of the Jupyter kernel of a language. */
export function toKernelName(language: string): string {
  return language === DEFAULT_LANGUAGE ? PYTHON_KERNEL : language
}

/** Undefined for a kernel that somebody has added: its cells see the variables of its start only, and results are as the kernel shows them. */
export function findLanguageRules(language: string): LanguageRules | undefined {
  return RULES[language]
}
