import type { KnownDifference } from '../known-difference.ts'

/** What processes are given, say, and end with. */
export const PROCESS_DIFFERENCES: readonly KnownDifference[] = [
  {
    id: 'commands that cannot be run',
    reason:
      'What stands on the stderr of a command that is not found or cannot be executed is from the shell here; the reference daemon has it from `nice`. The exit codes are the same.',
    matches: ({ difference: { at, ours, reference } }) =>
      /^body\.(stderr|pty)$/.test(at) &&
      /^(--|\/bin\/sh): /.test(String(ours)) &&
      /^(\/usr\/bin\/nice|\/usr\/bin\/ionice|ionice|nice): /.test(String(reference)),
  },
]
