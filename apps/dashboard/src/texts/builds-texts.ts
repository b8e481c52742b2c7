/** The texts of screens/builds. */
export const buildsTexts = {
  title: 'Builds',
}
