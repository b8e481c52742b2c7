/** The sentence that tells an operator where a limit is set (design.md 3a). @param isOwn - it is that of the team's row */
export function limitSource(setting: string, isOwn: boolean): string {
  return isOwn
    ? 'On this server the limit is that of the team: see `sandyard limits`.'
    : `On this server the limit is the setting ${setting}.`
}
