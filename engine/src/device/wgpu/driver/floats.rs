//! The float controls of Vulkan 1.2 that an adapter's driver offers. Without them Vulkan lets a driver flush
//! subnormals, and assume that NaN, infinities and zeros with a sign do not occur. Kernels ask for all that
//! are offered. Other backends, and older drivers, offer none.

use crate::device::wgpu::facts::FloatControl;

#[cfg(not(target_vendor = "apple"))]
pub(super) use vulkan::offered;

#[cfg(not(target_vendor = "apple"))]
mod vulkan {
    use ash::vk::{self, ShaderFloatControlsIndependence as Independence};
    use wgpu::hal::api::Vulkan;

    use super::FloatControl::{self, DenormPreserve, RoundingModeRTE, SignedZeroInfNanPreserve};

    /// The promises that an adapter offers, each with a width in bits.
    pub fn offered(adapter: &wgpu::Adapter) -> Vec<(FloatControl, u32)> {
        // SAFETY: the driver's handles are used below and neither kept nor destroyed.
        let Some(adapter) = (unsafe { adapter.as_hal::<Vulkan>() }) else { return Vec::new() };
        let (shared, card) = (adapter.shared_instance(), adapter.raw_physical_device());
        // SAFETY: both handles belong together and are alive.
        let version = unsafe { shared.raw_instance().get_physical_device_properties(card).api_version };
        // wgpu asks instances that know versions for the newest, and enables the extension on no device.
        if shared.instance_api_version() < vk::API_VERSION_1_1 || version < vk::API_VERSION_1_2 {
            return Vec::new();
        }
        let mut controls = vk::PhysicalDeviceFloatControlsProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut controls);
        // SAFETY: as above; the chain is of structures that Vulkan 1.2 knows.
        unsafe { shared.raw_instance().get_physical_device_properties2(card, &mut properties) };
        asked(&controls)
    }

    /// What a module may ask for all at once.
    fn asked(given: &vk::PhysicalDeviceFloatControlsProperties) -> Vec<(FloatControl, u32)> {
        // The widths 16, 32 and 64.
        let kept = [
            given.shader_denorm_preserve_float16,
            given.shader_denorm_preserve_float32,
            given.shader_denorm_preserve_float64,
        ];
        let special = [
            given.shader_signed_zero_inf_nan_preserve_float16,
            given.shader_signed_zero_inf_nan_preserve_float32,
            given.shader_signed_zero_inf_nan_preserve_float64,
        ];
        let nearest = [
            given.shader_rounding_mode_rte_float16,
            given.shader_rounding_mode_rte_float32,
            given.shader_rounding_mode_rte_float64,
        ];
        [
            (DenormPreserve, kept, given.denorm_behavior_independence),
            (SignedZeroInfNanPreserve, special, Independence::ALL),
            (RoundingModeRTE, nearest, given.rounding_mode_independence),
        ]
        .into_iter()
        .flat_map(|(control, given, independence)| {
            let widths = together(given.map(|offered| offered == vk::TRUE), independence);
            [16, 32, 64]
                .into_iter()
                .zip(widths)
                .filter(|&(_, is_asked)| is_asked)
                .map(move |(w, _)| (control, w))
        })
        .collect()
    }

    /// For which widths a mode may be set that must be the same for those that depend on each other. No
    /// kernel has floats of 16 bits: their mode is set only where that of 64 bits depends on it.
    fn together([half, single, double]: [bool; 3], independence: Independence) -> [bool; 3] {
        let all = half && single && double;
        match independence {
            Independence::ALL => [false, single, double],
            Independence::TYPE_32_ONLY => [half && double, single, half && double],
            _ => [all; 3],
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn widths_that_depend_on_each_other_are_requested_together_or_not_at_all() {
            let (yes, no) = (true, false);
            assert_eq!(together([no, yes, yes], Independence::ALL), [no, yes, yes]);
            assert_eq!(together([no, yes, yes], Independence::TYPE_32_ONLY), [no, yes, no]);
            assert_eq!(together([yes, no, yes], Independence::TYPE_32_ONLY), [yes, no, yes]);
            assert_eq!(together([yes, yes, no], Independence::NONE), [no; 3]);
            assert_eq!(together([yes; 3], Independence::NONE), [yes; 3]);
        }

        #[test]
        fn every_control_is_read_at_its_own_width() {
            let given = vk::PhysicalDeviceFloatControlsProperties {
                denorm_behavior_independence: Independence::ALL,
                rounding_mode_independence: Independence::TYPE_32_ONLY,
                shader_denorm_preserve_float32: vk::TRUE,
                shader_signed_zero_inf_nan_preserve_float64: vk::TRUE,
                shader_rounding_mode_rte_float16: vk::TRUE,
                shader_rounding_mode_rte_float64: vk::TRUE,
                ..Default::default()
            };
            let expected = [
                (DenormPreserve, 32),
                (SignedZeroInfNanPreserve, 64),
                (RoundingModeRTE, 16),
                (RoundingModeRTE, 64),
            ];
            assert_eq!(asked(&given), expected);
        }
    }
}

/// None: Metal has no such promises.
#[cfg(target_vendor = "apple")]
pub(super) fn offered(_: &wgpu::Adapter) -> Vec<(FloatControl, u32)> {
    Vec::new()
}
