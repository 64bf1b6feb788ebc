//! Groups of ranks, and devices as an iota.

use super::reader::Reader;
use crate::proto::{HloInstructionProto, IotaReplicaGroupListProto, ReplicaGroup};
use halite_support::{Diagnostic, Result, codes};

/// Numbers from 0 as a grid that is reshaped and transposed: `[2,4]T(1,0)`.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) reshape: Vec<i64>,
    pub(super) transpose: Vec<i32>,
}

impl Reader<'_> {
    /// `{{0,1},{2,3}}`, or `[2,2]<=[4]`.
    pub(super) fn replica_groups(&mut self, inst: &mut HloInstructionProto) -> Result<()> {
        match self.cursor.peek() {
            b'{' => inst.replica_groups = self.groups()?.into(),
            b'[' => inst.iota_collective_device_list = Some(Box::new(self.iota_groups()?)),
            _ if self.cursor.peek_word() == "mesh" => {
                let start = self.cursor.at_next();
                let fault = Diagnostic::error(codes::FOREIGN, "groups of ranks as axes of a mesh are not read");
                let help = "dump the module as a proto (`--xla_dump_hlo_as_proto`), of which they are read";
                return Err(fault.at(self.cursor.span((start, start + 4)), "here").help(help));
            }
            _ => return Err(self.cursor.unexpected("groups such as `{{0,1},{2,3}}` or `[2,2]<=[4]`")),
        }
        Ok(())
    }

    fn groups(&mut self) -> Result<Vec<ReplicaGroup>> {
        let mut groups = Vec::new();
        self.cursor.expect(b'{')?;
        self.separated(b'}', |reader| {
            groups.push(ReplicaGroup { replica_ids: reader.integers()? });
            Ok(())
        })?;
        Ok(groups)
    }

    fn iota_groups(&mut self) -> Result<IotaReplicaGroupListProto> {
        let start = self.cursor.at_next();
        self.cursor.expect(b'[')?;
        let sizes = self.integers_up_to(b']')?;
        let [num_replica_groups, num_devices_per_group] = sizes[..] else {
            let message = format!("groups have 2 sizes, found {}", sizes.len());
            return Err(self.misfit((start, self.cursor.at), &message));
        };
        self.cursor.expect_all("<=")?;
        let Grid { reshape, transpose } = self.grid()?;
        Ok(IotaReplicaGroupListProto {
            num_replica_groups,
            num_devices_per_group,
            iota_reshape_dims: reshape,
            iota_transpose_perm: transpose,
        })
    }

    /// `[2,4]T(1,0)`, or `[8]` in the order of the numbers.
    pub(super) fn grid(&mut self) -> Result<Grid> {
        let start = self.cursor.at_next();
        self.cursor.expect(b'[')?;
        let reshape = self.integers_up_to(b']')?;
        let mut transpose: Vec<i32> = (0..reshape.len() as i32).collect();
        if self.cursor.eat(b'T') {
            transpose.clear();
            self.cursor.expect(b'(')?;
            self.separated(b')', |reader| {
                transpose.push(reader.small()?);
                Ok(())
            })?;
        }
        let mut dims = transpose.clone();
        dims.sort_unstable();
        if reshape.is_empty() || !dims.into_iter().eq(0..reshape.len() as i32) {
            let message = format!("devices in {} dimensions are transposed by each of them once", reshape.len());
            return Err(self.misfit((start, self.cursor.at), &message));
        }
        Ok(Grid { reshape, transpose })
    }
}
