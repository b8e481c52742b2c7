/** The texts of screens/teams. */
export const teamsTexts = {
  title: 'Teams',
}
