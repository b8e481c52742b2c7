import type { CodeContext } from '../contexts/code-context.ts'

/** A context as clients read it (clients.md 1.10). */
export function toContextView({ id, language, directory }: CodeContext): { id: string; language: string; cwd: string } {
  return { id, language, cwd: directory }
}
