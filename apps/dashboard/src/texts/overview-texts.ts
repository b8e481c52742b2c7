/** The texts of screens/overview. */
export const overviewTexts = {
  title: 'Overview',
}
