/** The texts of screens/volumes. */
export const volumesTexts = {
  title: 'Volumes',
}
